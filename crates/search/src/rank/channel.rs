//! The scores that a file has for a text, by name, and what each weighs.

use chartroom_protocol::index::SearchAsk;

use crate::query::weigh::WeighedQuery;

/// One way of saying how well a file fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// The mean of its best chunks.
    Chunks,
    /// The whole file.
    Files,
    /// Its best chunks, asked with the title.
    Title,
    /// Its path.
    Paths,
    /// The stems of its name.
    FileNames,
    /// Whether the text names its path.
    Mentioned,
    /// Whether the text names it as a module: `net.http.client`.
    Modules,
    /// The names that it defines, asked with the beginning.
    Names,
    /// As `Chunks`, by stems.
    StemChunks,
    /// As `Files`, by stems.
    StemFiles,
    /// Commits whose messages fit.
    Commits,
    /// All messages of the commits that changed it.
    Messages,
    /// How much it defines.
    Definitions,
    /// How near its nearest chunk is, where vectors say more than words.
    Near,
    /// What the others of its folder score.
    Neighbours,
}

/// How many there are.
pub const N_CHANNELS: usize = 15;

impl Channel {
    /// Every channel, in the order of their numbers.
    pub const ALL: [Self; N_CHANNELS] = [
        Self::Chunks,
        Self::Files,
        Self::Title,
        Self::Paths,
        Self::FileNames,
        Self::Mentioned,
        Self::Modules,
        Self::Names,
        Self::StemChunks,
        Self::StemFiles,
        Self::Commits,
        Self::Messages,
        Self::Definitions,
        Self::Near,
        Self::Neighbours,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chunks => "chunks",
            Self::Files => "files",
            Self::Title => "title",
            Self::Paths => "paths",
            Self::FileNames => "file names",
            Self::Mentioned => "mentioned",
            Self::Modules => "modules",
            Self::Names => "names",
            Self::StemChunks => "stem chunks",
            Self::StemFiles => "stem files",
            Self::Commits => "commits",
            Self::Messages => "messages",
            Self::Definitions => "definitions",
            Self::Near => "near",
            Self::Neighbours => "neighbours",
        }
    }
}

/// What vectors weigh for a short question in words, chosen on the tune half: as much as several of the others, which all
/// count the same few words.
pub(super) const NEAR_IN_WORDS: f32 = 4.0;

/// What a file that is seldom meant (an example, a vendored copy) is worth at least, when a short question in words is
/// asked: it may well be about one.
const STANDING_IN_WORDS: f32 = 0.75;

/// What each channel weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChannelWeights {
    channels: [f32; N_CHANNELS],
    /// What a file is worth at least before anything is asked.
    least_standing: f32,
    /// Whether what a file scores beside the best counts less than in proportion.
    is_sharp: bool,
}

impl ChannelWeights {
    /// For a text: every channel the same, but for what a path's own words say already, and for modules, which are few.
    pub const TEXT: Self = Self { channels: [1.0; N_CHANNELS], least_standing: 0.0, is_sharp: true }
        .with(Channel::FileNames, 0.0)
        .with(Channel::Modules, 0.5)
        .with(Channel::Definitions, 0.6);

    /// For a line of words: each of them is in some path, so that paths say less. Where a name of the code is among them,
    /// the best file by that name is often not the one, so that the others are not put down.
    pub const SHORT: Self = Self { is_sharp: false, ..Self::TEXT }
        .with(Channel::Paths, 0.25)
        .with(Channel::FileNames, 0.25)
        .with(Channel::Definitions, 0.0);

    /// What a query asks for. Commits say what was changed, not how it works.
    pub fn of_query(query: &WeighedQuery, ask: SearchAsk) -> Self {
        let weights = if query.is_line() { Self::SHORT } else { Self::TEXT };
        match ask {
            SearchAsk::Find | SearchAsk::Edit => weights,
            SearchAsk::Explain => weights.with(Channel::Commits, 0.0).with(Channel::Messages, 0.0),
        }
    }

    /// The same for a short question in words.
    pub fn in_words(self) -> Self {
        Self { least_standing: STANDING_IN_WORDS, is_sharp: true, ..self }
    }

    /// What a file is worth that is worth this much before anything is asked.
    pub fn standing(&self, standing: f32) -> f32 {
        standing.max(self.least_standing)
    }

    /// What a file's score beside the best counts, both 0 to 1: for long texts and questions in words its 1.25th power, so
    /// that to be far ahead in some channels is more than to be fair in all of them. Roots cost far less than a power.
    pub fn counted(&self, score: f32) -> f32 {
        if self.is_sharp { score * score.sqrt().sqrt() } else { score }
    }

    /// What this channel weighs.
    pub fn of(&self, channel: Channel) -> f32 {
        self.channels[channel as usize]
    }

    /// The same with another weight for one channel.
    pub const fn with(mut self, channel: Channel, weight: f32) -> Self {
        self.channels[channel as usize] = weight;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_in_words_may_be_about_an_example() {
        let weights = ChannelWeights::SHORT;
        assert_eq!([weights.standing(0.5), weights.standing(1.0)], [0.5, 1.0]);
        let in_words = weights.in_words();
        assert_eq!([in_words.standing(0.5), in_words.standing(1.0)], [STANDING_IN_WORDS, 1.0]);
        assert_eq!(in_words.of(Channel::Paths), weights.of(Channel::Paths), "the channels weigh the same");
    }

    #[test]
    fn how_much_a_file_defines_counts_for_a_text_and_not_for_a_line() {
        let of = |n_tokens: usize| {
            let query = WeighedQuery { n_tokens, ..WeighedQuery::default() };
            ChannelWeights::of_query(&query, SearchAsk::Find).of(Channel::Definitions)
        };
        assert!(of(200) > 0.5);
        assert_eq!(of(20), 0.0);
    }

    #[test]
    fn far_ahead_in_one_channel_is_more_than_fair_in_two_but_for_a_line_with_a_name() {
        let ahead = |weights: ChannelWeights| weights.counted(1.0) - 2.0 * weights.counted(0.5);
        assert!(ahead(ChannelWeights::TEXT) > 0.1 && ahead(ChannelWeights::SHORT.in_words()) > 0.1);
        assert_eq!(ahead(ChannelWeights::SHORT), 0.0);
        assert_eq!(ChannelWeights::TEXT.counted(0.0), 0.0, "what says nothing counts nothing");
    }
}
