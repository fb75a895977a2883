//! Finds the turns of an agent's history that the journal lacks where only the words tell turns apart: pure.
//!
//! Both sides are in order, and each may lack turns of the other: the journal those that were had in a terminal, the
//! agent those that never reached it or that it has summed up since. So the two are aligned like two versions of a
//! text, by what the person said; what the agent answered decides between equal messages.

use std::cmp::Ordering;

use crate::provider::SaidTurn;

/// Conversations of more comparisons than this are not compared turn by turn.
const MAX_COMPARISONS: usize = 4_000_000;

/// What a turn of the agent's history is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// This turn of the journal.
    At(usize),
    /// In the journal under other words, or nothing that a person said.
    Elsewhere,
    New,
}

/// Tells of each turn of `history` what it is.
pub(super) fn find(journal: &[SaidTurn], history: &[SaidTurn]) -> Vec<Found> {
    if journal.is_empty() {
        return vec![Found::New; history.len()];
    }
    let n_common =
        journal.iter().zip(history).take_while(|(ours, theirs)| same(ours, theirs) == SURE).count();
    let (rest_of_journal, rest_of_history) = (&journal[n_common..], &history[n_common..]);
    if rest_of_journal.len().saturating_mul(rest_of_history.len()) > MAX_COMPARISONS {
        return after_the_last(journal, history);
    }
    let rest = best(rest_of_journal, rest_of_history);
    let rest = rest.into_iter().map(|pair| pair.map(|index| index + n_common));
    let pairs: Vec<Option<usize>> = (0..n_common).map(Some).chain(rest).collect();
    let mut found: Vec<Found> = pairs.iter().map(|pair| pair.map_or(Found::New, Found::At)).collect();
    let mut is_free = vec![true; journal.len()];
    pairs.iter().flatten().for_each(|index| is_free[*index] = false);
    find_moved(journal, history, &mut found, &mut is_free);
    let mut next_of_journal = 0;
    let mut gap_begins = 0;
    for end in 0..=history.len() {
        let pair = pairs.get(end).copied().flatten();
        if pair.is_none() && end < history.len() {
            continue;
        }
        // Between two pairs: what the agent answered it has, under other words if not under these.
        let missing = next_of_journal..pair.unwrap_or(journal.len());
        let n_reworded =
            missing.filter(|index| is_free[*index] && !journal[*index].answer.is_empty()).count();
        let unknown = found[gap_begins..end].iter_mut().filter(|found| **found == Found::New);
        unknown.take(n_reworded).for_each(|found| *found = Found::Elsewhere);
        next_of_journal = pair.map_or(journal.len(), |pair| pair + 1);
        gap_begins = end + 1;
    }
    for (found, turn) in found.iter_mut().zip(history) {
        if *found == Found::New && turn.message.trim().is_empty() {
            *found = Found::Elsewhere;
        }
    }
    found
}

/// What was taken over once stands where it was noticed, not where it was said.
fn find_moved(journal: &[SaidTurn], history: &[SaidTurn], found: &mut [Found], is_free: &mut [bool]) {
    for (found, theirs) in found.iter_mut().zip(history).filter(|(found, _)| **found == Found::New) {
        let is_it = |(index, ours): (usize, &SaidTurn)| {
            is_free[index] && same(ours, theirs) > 0 && ours.answer.trim() == theirs.answer.trim()
        };
        if let Some(index) = journal.iter().enumerate().position(is_it) {
            is_free[index] = false;
            *found = Found::At(index);
        }
    }
}

/// The pairing with the highest sum of scores; of several, the one that pairs the earliest.
fn best(journal: &[SaidTurn], history: &[SaidTurn]) -> Vec<Option<usize>> {
    let width = history.len() + 1;
    let mut scores = vec![0_u32; (journal.len() + 1) * width];
    for (i, ours) in journal.iter().enumerate().rev() {
        for (j, theirs) in history.iter().enumerate().rev() {
            let without = scores[(i + 1) * width + j].max(scores[i * width + j + 1]);
            let score = same(ours, theirs);
            let paired = if score > 0 { score + scores[(i + 1) * width + j + 1] } else { 0 };
            scores[i * width + j] = without.max(paired);
        }
    }
    let mut pairs = vec![None; history.len()];
    let (mut i, mut j) = (0, 0);
    while i < journal.len() && j < history.len() {
        let score = same(&journal[i], &history[j]);
        if score > 0 && scores[i * width + j] == score + scores[(i + 1) * width + j + 1] {
            pairs[j] = Some(i);
            (i, j) = (i + 1, j + 1);
        } else if scores[(i + 1) * width + j] == scores[i * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Of conversations that are too long to compare only what follows the journal's last turn is new.
fn after_the_last(journal: &[SaidTurn], history: &[SaidTurn]) -> Vec<Found> {
    let is_last = |theirs: &SaidTurn| journal.last().is_some_and(|ours| same(ours, theirs) > 0);
    let last = history.iter().rposition(is_last).unwrap_or(history.len());
    let found = |index: usize| match index.cmp(&last) {
        Ordering::Less => Found::Elsewhere,
        Ordering::Equal => Found::At(journal.len() - 1),
        Ordering::Greater => Found::New,
    };
    (0..history.len()).map(found).collect()
}

/// The score of two turns with the same message and the same answer.
const SURE: u32 = 4;

/// Scores how likely two turns are one; none at all if a person said something else in them.
fn same(ours: &SaidTurn, theirs: &SaidTurn) -> u32 {
    if ours.message.trim() != theirs.message.trim() {
        return 0;
    }
    match (ours.answer.trim(), theirs.answer.trim()) {
        // A replay runs messages together that came one by one.
        (ours, theirs) if !ours.is_empty() && theirs.ends_with(ours) => SURE,
        // The agent may not have kept what we heard; that we missed what it said is less likely.
        (_, "") => SURE - 1,
        _ => SURE - 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns as `message` or `message>answer`.
    fn turns(text: &str) -> Vec<SaidTurn> {
        let turn = |(n, words): (usize, &str)| {
            let (message, answer) = words.split_once('>').unwrap_or((words, ""));
            SaidTurn { turn_id: n.to_string().into(), message: message.into(), answer: answer.into() }
        };
        text.split_whitespace().enumerate().map(turn).collect()
    }

    /// One mark a turn of the history: its place in the journal, `new`, or `-`.
    #[track_caller]
    fn check(journal: &str, history: &str, expected: &str) {
        let found = find(&turns(journal), &turns(history));
        let marks = found.into_iter().map(|found| match found {
            Found::At(index) => index.to_string(),
            Found::Elsewhere => "-".to_owned(),
            Found::New => "new".to_owned(),
        });
        assert_eq!(marks.collect::<Vec<_>>().join(" "), expected, "{journal:?} and {history:?}");
    }

    #[test]
    fn an_empty_journal_lacks_everything_and_a_whole_one_nothing() {
        check("", "a>1 b>2", "new new");
        check("", "", "");
        check("a>1 b>2", "a>1 b>2", "0 1");
        check("a>1 b>2", "", "");
    }

    #[test]
    fn what_was_said_elsewhere_is_new_after_before_and_between() {
        check("a>1", "a>1 b>2 c>3", "0 new new");
        check("b>2", "a>1 b>2", "new 0");
        check("a>1 c>3", "a>1 b>2 c>3", "0 new 1");
        check("a>1 c>3", "a>1 b>2 c>3 d>4", "0 new 1 new");
    }

    #[test]
    fn equal_messages_are_counted_and_their_answers_tell_which_is_which() {
        check("go>1", "go>1 go>2", "0 new");
        check("go go", "go go go", "0 1 new");
        check("go>1 go>3", "go>1 go>2 go>3", "0 new 1");
        check("go>2", "go>1 go>2", "new 0");
        check("go>1 go", "go>1 go>2 go", "0 new 1");
        check("go>1 go", "go", "0");
    }

    #[test]
    fn what_was_taken_over_out_of_its_place_is_found_there() {
        check("b>2 a>1", "a>1 b>2", "1 0");
        check("a>1 c>3 b>2", "a>1 b>2 c>3", "0 2 1");
        check("a>1 c>3 b>2", "a>1 b>2 c>3 d>4", "0 2 1 new");
    }

    #[test]
    fn a_message_that_never_reached_the_agent_hides_nothing() {
        check("a>1 lost", "a>1 b>2", "0 new");
        check("lost", "b>2", "new");
        check("a>1 go", "a>1", "0");
        check("a>1 go", "a>1 go", "0 1");
    }

    #[test]
    fn a_history_that_was_summed_up_adds_only_what_came_after() {
        check("a>1 b>2 c>3", "c>3 d>4", "2 new");
        check("a>1 b>2 c>3", "summary c>3 d>4", "- 2 new");
        check("a>1 b>2 c>3", "summary", "-");
    }

    #[test]
    fn a_turn_under_other_words_is_not_doubled() {
        check("a>1 b>2", "a>1 B'>2 c>3", "0 - new");
    }

    #[test]
    fn an_answer_that_was_cut_short_here_is_the_same_turn() {
        check("a>1 b>hal", "a>1 b>half c>3", "0 1 new");
        check("a>1 b>tail", "a>1 b>headtail", "0 1");
    }

    #[test]
    fn a_long_conversation_is_compared_in_a_moment_and_nothing_is_doubled() {
        let said = |n: usize| format!("m{n}>{n} ");
        let journal: String = (0..5_000).filter(|n| *n != 1).map(said).collect();
        let history: String = (0..5_000).map(said).collect::<String>() + "last>one";
        let found = find(&turns(&journal), &turns(&history));
        assert_eq!(found.last(), Some(&Found::New));
        assert_eq!(found.iter().filter(|found| **found == Found::New).count(), 1);
    }
}
