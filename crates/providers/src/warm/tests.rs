//! The pool with processes that are numbers.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use super::*;

const LONG: Duration = Duration::from_secs(3600);

/// Starts numbers, one for each permit.
#[derive(Clone)]
struct Numbers {
    may_start: Arc<Semaphore>,
    fails: Arc<AtomicBool>,
    n_begun: Arc<AtomicUsize>,
    ended: Arc<Mutex<Vec<usize>>>,
    are_fit: Arc<AtomicBool>,
}

struct Number {
    number: usize,
    of: Numbers,
}

#[async_trait]
impl StartsSpares for Numbers {
    type Spare = Number;

    async fn start_spare(&self, _project_dir: &Path) -> Result<Number, ProviderError> {
        let number = self.n_begun.fetch_add(1, Ordering::SeqCst);
        self.may_start.acquire().await.expect("it is open").forget();
        match self.fails.load(Ordering::SeqCst) {
            true => Err(ProviderError::create_failed("not today")),
            false => Ok(Number { number, of: self.clone() }),
        }
    }
}

#[async_trait]
impl Spare for Number {
    fn is_fit(&self) -> bool {
        self.of.are_fit.load(Ordering::SeqCst)
    }

    async fn end(self) {
        self.of.ended.lock().expect("nobody panicked").push(self.number);
    }
}

impl Numbers {
    fn new(n_permits: usize) -> Self {
        Self {
            may_start: Arc::new(Semaphore::new(n_permits)),
            fails: Arc::default(),
            n_begun: Arc::default(),
            ended: Arc::default(),
            are_fit: Arc::new(AtomicBool::new(true)),
        }
    }

    fn pool(&self, per_project: usize, idle: Option<Duration>) -> WarmPool<Self> {
        WarmPool::new(self.clone(), Some(per_project), idle)
    }

    fn ended(&self) -> Vec<usize> {
        self.ended.lock().expect("nobody panicked").clone()
    }
}

async fn take(pool: &WarmPool<Numbers>, project: &str) -> Option<usize> {
    let taken = tokio::time::timeout(LONG, pool.take(Path::new(project))).await;
    taken.expect("nobody waits for ever").map(|spare| spare.number)
}

/// Lets everything run that can; the clock is paused and goes on by itself.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_process_is_handed_out_once_and_to_its_own_project() {
    let numbers = Numbers::new(10);
    let pool = numbers.pool(1, None);
    pool.fill(Path::new("/a"));
    settle().await;
    assert_eq!(take(&pool, "/b").await, None);
    assert_eq!(take(&pool, "/a").await, Some(0));
    assert_eq!(take(&pool, "/a").await, None);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_starting_is_waited_for_by_one_session() {
    let numbers = Numbers::new(0);
    let pool = numbers.pool(1, None);
    pool.fill(Path::new("/a"));
    let waiting = tokio::spawn({
        let pool = pool.clone();
        async move { take(&pool, "/a").await }
    });
    settle().await;
    // A second session would wait for a process that it does not get.
    assert_eq!(take(&pool, "/a").await, None);
    numbers.may_start.add_permits(1);
    assert_eq!(waiting.await.expect("it was not cancelled"), Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_goes_away_while_it_waits_leaves_the_process_to_the_next() {
    let numbers = Numbers::new(0);
    let pool = numbers.pool(1, None);
    pool.fill(Path::new("/a"));
    let left = tokio::time::timeout(Duration::from_secs(1), take(&pool, "/a")).await;
    assert!(left.is_err());
    numbers.may_start.add_permits(1);
    settle().await;
    assert_eq!(take(&pool, "/a").await, Some(0));
}

#[tokio::test(start_paused = true)]
async fn one_that_cannot_be_started_keeps_nobody_waiting() {
    let numbers = Numbers::new(1);
    numbers.fails.store(true, Ordering::SeqCst);
    let pool = numbers.pool(1, None);
    pool.fill(Path::new("/a"));
    assert_eq!(take(&pool, "/a").await, None);
    // The project's place is free again.
    numbers.fails.store(false, Ordering::SeqCst);
    numbers.may_start.add_permits(1);
    pool.fill(Path::new("/a"));
    assert_eq!(take(&pool, "/a").await, Some(1));
}

#[tokio::test(start_paused = true)]
async fn what_follows_a_session_starts_after_its_first_turn_and_is_not_waited_for_before() {
    let numbers = Numbers::new(10);
    let pool = numbers.pool(1, None);
    pool.refill(Path::new("/a"));
    tokio::time::sleep(AFTER_USE - Duration::from_millis(10)).await;
    assert_eq!((numbers.n_begun.load(Ordering::SeqCst), take(&pool, "/a").await), (0, None));
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(take(&pool, "/a").await, Some(0));
}

#[tokio::test(start_paused = true)]
async fn one_that_is_not_fit_any_more_is_ended_and_the_next_one_is_taken() {
    let numbers = Numbers::new(10);
    let pool = numbers.pool(2, None);
    pool.fill(Path::new("/a"));
    settle().await;
    numbers.are_fit.store(false, Ordering::SeqCst);
    assert_eq!(take(&pool, "/a").await, None);
    settle().await;
    assert_eq!(numbers.ended(), [0, 1]);
    numbers.are_fit.store(true, Ordering::SeqCst);
    pool.fill(Path::new("/a"));
    assert_eq!(take(&pool, "/a").await, Some(2));
}

#[tokio::test(start_paused = true)]
async fn one_that_nobody_took_is_let_go() {
    let numbers = Numbers::new(10);
    let pool = numbers.pool(1, Some(LONG));
    pool.fill(Path::new("/a"));
    tokio::time::sleep(LONG - Duration::from_secs(1)).await;
    assert_eq!(numbers.ended(), [0; 0]);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(numbers.ended(), [0]);
    assert_eq!(take(&pool, "/a").await, None);
}

#[tokio::test(start_paused = true)]
async fn one_that_was_taken_is_not_let_go() {
    let numbers = Numbers::new(10);
    let pool = numbers.pool(1, Some(LONG));
    pool.fill(Path::new("/a"));
    assert_eq!(take(&pool, "/a").await, Some(0));
    tokio::time::sleep(LONG * 2).await;
    assert_eq!(numbers.ended(), [0; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_fifth_project_takes_the_place_of_the_first() {
    let numbers = Numbers::new(10);
    let pool = numbers.pool(1, None);
    for project in ["/a", "/b", "/c", "/d", "/e"] {
        pool.fill(Path::new(project));
        settle().await;
    }
    assert_eq!(numbers.ended(), [0]);
    assert_eq!(take(&pool, "/a").await, None);
    assert_eq!(take(&pool, "/e").await, Some(4));
}
