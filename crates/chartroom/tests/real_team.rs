//! One index for a team, through the real program and a real Milvus: a CI machine that writes, two laptops at different
//! commits that read, and a writer that is killed at any moment.
//!
//! `CHARTROOM_KILLS=400` makes the last one longer; `CHARTROOM_SEED` another one.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

use chartroom_testkit::milvus::Lite;
use program::{Home, finish};
use serde_json::Value;

const NAME: &str = "team/shop";

/// A machine: a home, a data folder, a checkout, a config that names the server.
struct Machine {
    home: Home,
    checkout: String,
    /// What the team calls it.
    name: String,
}

impl Machine {
    fn new(server: &str, commit: &[(&str, &str)]) -> Self {
        Self::named(server, NAME, commit)
    }

    fn named(server: &str, name: &str, commit: &[(&str, &str)]) -> Self {
        let home = Home::new();
        std::fs::create_dir_all(home.path().join("shop")).unwrap();
        std::fs::create_dir_all(home.path().join(".config/chartroom")).unwrap();
        let checkout = home.path().join("shop").display().to_string();
        let machine = Self { home, checkout, name: name.to_owned() };
        machine.configure(&format!("address = \"{server}\", leaseSeconds = 1"));
        machine.check_out(commit);
        machine
    }

    /// The config names a server so.
    fn configure(&self, store: &str) {
        let config = format!("[index]\nstore = {{ provider = \"milvus\", {store} }}\n");
        self.home.write(".config/chartroom/config.toml", &config);
    }

    /// All that a command prints that cannot do what it is asked.
    #[track_caller]
    fn refused(&self, args: &[&str]) -> String {
        let (code, stdout, stderr) = self.home.run(args);
        assert!(code > 0, "{args:?}: {code} {stdout}\n{stderr}");
        stdout + &stderr
    }

    /// What the doctor says of the team's server.
    #[track_caller]
    fn doctor(&self, name: &str) -> Value {
        let (_, stdout, stderr) = self.home.run(&["doctor", "--json"]);
        let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}\n{stderr}"));
        let mut checks = report["checks"].as_array().unwrap().iter();
        checks.find(|check| check["name"] == name).unwrap_or_else(|| panic!("{report}")).clone()
    }

    /// The working tree becomes this commit's.
    fn check_out(&self, commit: &[(&str, &str)]) {
        for entry in std::fs::read_dir(&self.checkout).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        for (file, text) in commit {
            self.write(file, text);
        }
    }

    fn write(&self, file: &str, text: &str) {
        self.home.write(&format!("shop/{file}"), text);
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        let (code, stdout, stderr) = finish(self.home.command(args).arg("--json").output().unwrap());
        let document: Value = serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("{args:?}: {error}: {code} {stdout}\n{stderr}"));
        assert_eq!((code, &document["status"]), (0, &"ok".into()), "{args:?}: {document}");
        document
    }

    #[track_caller]
    fn share(&self) -> String {
        let document = self.json(&["index", "share", &self.checkout, "--name", &self.name]);
        document["message"].as_str().unwrap().to_owned()
    }

    /// Of what this finds, the functions by name; and what is told of the team.
    #[track_caller]
    fn search(&self, query: &str) -> (BTreeSet<String>, Value) {
        let found = self.json(&["search", query, "--path", &self.checkout]);
        let names = found["results"].as_array().unwrap().iter().filter_map(|result| {
            let label = result["symbolLabel"].as_str()?;
            Some(label.split_once(' ')?.1.split('(').next()?.to_owned())
        });
        (names.collect(), found["freshnessDecision"]["team"].clone())
    }
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn lite() -> (tempfile::TempDir, Lite) {
    let data = tempfile::tempdir().unwrap();
    let server = Lite::start(&data.path().join("milvus"));
    (data, server)
}

const CART: (&str, &str) = ("cart.py", "def fill_cart(goods):\n    return goods\n");
const FIRST: &[(&str, &str)] = &[CART, ("pay.py", "def pay_cash(sum):\n    return sum\n")];
const SECOND: &[(&str, &str)] =
    &[CART, ("pay.py", "def pay_card(sum):\n    return sum\n"), ("ship.py", "def ship_goods():\n    pass\n")];

#[test]
fn two_laptops_at_two_commits_and_ci_each_answer_of_their_own_tree() {
    let (_data, lite) = lite();
    let ci = Machine::new(&lite.address(), FIRST);
    assert!(ci.share().contains("generation 1: 2 files, of which 2 were sent"));

    // Both laptops adopt, one of them at a commit that CI has not seen.
    let (old, new) = (Machine::new(&lite.address(), FIRST), Machine::new(&lite.address(), SECOND));
    for laptop in [&old, &new] {
        laptop.json(&["index", "adopt", &laptop.checkout, "--name", NAME]);
    }
    let (found, team) = old.search("cart pay ship goods");
    assert_eq!(found, names(&["fill_cart", "pay_cash"]));
    assert_eq!((&team["generation"], &team["overlaidFiles"]), (&1.into(), &0.into()), "{team}");
    let (found, team) = new.search("cart pay ship goods");
    assert_eq!(found, names(&["fill_cart", "pay_card", "ship_goods"]));
    assert_eq!((&team["generation"], &team["overlaidFiles"]), (&1.into(), &2.into()), "{team}");

    // It is merged; CI syncs without being told the name again.
    ci.check_out(SECOND);
    let synced = ci.json(&["index", "sync", &ci.checkout, "--no-watch"]);
    let message = synced["message"].as_str().unwrap();
    assert!(message.contains("generation 2: 3 files, of which 2 were sent"), "{message}");
    let (found, team) = old.search("cart pay ship goods");
    assert_eq!(found, names(&["fill_cart", "pay_cash"]), "the old commit answers of itself");
    assert_eq!((&team["generation"], &team["overlaidFiles"]), (&2.into(), &2.into()), "{team}");
    let (_, team) = new.search("cart");
    assert_eq!((&team["generation"], &team["overlaidFiles"]), (&2.into(), &0.into()), "{team}");

    // A laptop pulls, and has a change of its own that nobody has committed.
    old.check_out(SECOND);
    old.write("ship.py", "def ship_by_boat():\n    pass\n");
    let (found, team) = old.search("cart pay ship goods");
    assert_eq!(found, names(&["fill_cart", "pay_card", "ship_by_boat"]));
    assert_eq!(team["overlaidFiles"], 1, "{team}");
    // And a sync of a laptop is not shared: it only reads.
    old.json(&["index", "sync", &old.checkout, "--no-watch"]);
    let (found, team) = new.search("ship");
    assert!(found.contains("ship_goods") && !found.contains("ship_by_boat"), "{found:?}");
    assert_eq!(team["generation"], 2, "{team}");

    // Nothing of it needs the server.
    drop(lite);
    let (found, team) = old.search("cart pay ship goods");
    assert_eq!(found, names(&["fill_cart", "pay_card", "ship_by_boat"]));
    assert_eq!(team, Value::Null, "what the team has is not known now");
}

/// Each says what is wrong, where, and what to do; and the machine's own index answers as before.
#[test]
fn bad_input_is_told_by_its_place_and_with_what_to_do() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let machine = Machine::new(&format!("http://{nobody}"), FIRST);
    machine.json(&["index", "create", &machine.checkout]);
    let share = ["index", "share", &machine.checkout, "--name", NAME];
    let adopt = ["index", "adopt", &machine.checkout, "--name", NAME];
    let check = |args: &[&str], says: &[&str]| {
        let told = machine.refused(args);
        says.iter().for_each(|says| assert!(told.contains(says), "{args:?} says no {says:?}: {told}"));
    };
    let refused = format!("no connection (Connection refused (os error 111)) at http://{nobody}");
    check(&adopt, &[&refused, "Nothing was changed"]);
    check(&share, &[&refused, "What the team has is as it was"]);
    let long = "x".repeat(600);
    check(&["index", "share", &machine.checkout, "--name", &long], &["has 600 bytes; 512 are allowed"]);
    check(&["index", "share", &machine.checkout], &["--name"]);

    machine.configure("address = \"milvus.example.org:19530\"");
    check(&share, &["`index.store.address` must begin with http:// or https://", "milvus.example.org:19530"]);
    machine.configure(&format!("address = \"https://{nobody}\", caFile = \"/none/ca.pem\""));
    check(&adopt, &["/none/ca.pem"]);
    machine.configure(&format!("address = \"http://{nobody}\", tokenEnv = \"TEAM_TOKEN\""));
    check(&share, &["the environment variable TEAM_TOKEN, which holds the token, is not set"]);
    let told = machine.doctor("the team's store");
    assert_eq!(told["state"], "wrong", "{told}");
    assert!(told["detail"].as_str().unwrap().contains("TEAM_TOKEN"), "{told}");
    assert!(told["mend"].as_str().unwrap().contains("[index] store"), "{told}");

    machine.configure(&format!("address = \"http://{nobody}\""));
    let (found, team) = machine.search("cart pay");
    assert_eq!((found, team), (names(&["fill_cart", "pay_cash"]), Value::Null));
}

#[test]
fn a_folder_whose_name_is_not_utf8_is_refused_by_its_name() {
    use std::os::unix::ffi::OsStrExt as _;
    let machine = Machine::new("http://127.0.0.1:1", FIRST);
    let folder = machine.home.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&folder).unwrap();
    for action in ["share", "adopt"] {
        let mut command = machine.home.command(&["index", action, "--name", NAME]);
        let (code, stdout, stderr) = finish(command.arg(&folder).output().unwrap());
        assert!(code > 0 && stderr.contains("is not valid UTF-8"), "{action}: {code} {stdout}\n{stderr}");
    }
}

#[test]
fn the_doctor_and_the_page_show_the_server_how_quickly_it_answers_and_its_last_trouble() {
    let (_data, mut lite) = lite();
    let machine = Machine::new(&lite.address(), FIRST);
    machine.share();
    let told = machine.doctor(&lite.address());
    assert_eq!((&told["area"], &told["state"]), (&"index".into(), &"ok".into()), "{told}");
    let detail = told["detail"].as_str().unwrap();
    assert!(detail.contains("milvus") && detail.contains("answers in") && detail.ends_with(" ms"), "{told}");

    let page = machine.home.serve(&[]);
    let browser = page.let_in();
    let headers = browser.each_ref().map(|(name, value)| (*name, value.as_str()));
    let ask = || -> Value {
        let answer = page.request("GET", "/api/index/team", &headers, "");
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    };
    let shown = ask();
    assert_eq!(shown["server"]["address"], lite.address(), "{shown}");
    assert!(shown["server"]["version"].as_str().unwrap().contains("milvus"), "{shown}");
    assert!(shown["server"]["latencyMs"].is_u64() && shown["server"].get("trouble").is_none(), "{shown}");

    lite.kill();
    let shown = ask();
    let trouble = shown["server"]["trouble"].as_str().unwrap_or_else(|| panic!("{shown}")).to_owned();
    assert!(trouble.contains(&lite.address()), "{shown}");
    assert!(shown["server"].get("version").is_none(), "{shown}");
    let told = machine.doctor(&lite.address());
    assert_eq!(told["state"], "wrong", "{told}");
    let detail = told["detail"].as_str().unwrap();
    assert!(detail.contains("no connection (Connection refused"), "{told}");
    assert!(detail.contains("this machine's own index answers meanwhile"), "{told}");
    assert!(told["mend"].as_str().unwrap().contains("[index] store"), "{told}");

    lite.restart();
    // A breaker rests for five seconds.
    program::wait_until("the server is asked again", || ask()["server"].get("version").is_some());
    let shown = ask();
    assert!(shown["server"].get("trouble").is_none(), "{shown}");
    let last = &shown["server"]["lastTrouble"];
    assert!(last["text"].as_str().unwrap().contains(&lite.address()), "{shown}");
    assert!(last["at"].as_str().unwrap().starts_with("20"), "{shown}");
}

/// The same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u128) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (u128::from(self.0 >> 11) % bound) as u64
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Starts a share and kills it after this time; how long it took when it was quicker.
fn kill_share(machine: &Machine, after: Duration) -> Option<Duration> {
    let mut command = machine.home.command(&["index", "share", &machine.checkout, "--name", &machine.name]);
    let started = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while started.elapsed() < after {
        if child.try_wait().unwrap().is_some() {
            return Some(started.elapsed());
        }
        #[allow(clippy::disallowed_methods, reason = "a random moment is what this waits for")]
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// One team: its writer is killed so many times, each time in the middle of a share that nobody else is in the way of. Who
/// follows waits for the dead one's term, so that teams side by side wait together. Each has a server of its own: two
/// aliases that change at once trip the lite server over its own file.
fn kill_writers(team: u64, kills: u64) -> String {
    let (_data, lite) = lite();
    let server = &lite.address();
    let name = format!("team/{team}");
    let mut random = Random(number("CHARTROOM_SEED", 0x5eed) + team);
    let ci = Machine::named(server, &name, FIRST);
    ci.share();
    let laptop = Machine::named(server, &name, FIRST);
    laptop.json(&["index", "adopt", &laptop.checkout, "--name", &name]);
    let text = |round: u64| format!("def pay_{round}(sum):\n    return sum\n");
    ci.write("pay.py", &text(0));
    let mut whole = kill_share(&ci, Duration::from_secs(600)).unwrap();

    let (mut killed, mut round, mut generation) = (0, 0, 2);
    while killed < kills {
        round += 1;
        assert!(round < kills * 5, "the moments lie within a share: {killed} of {round} did");
        ci.write("pay.py", &text(round));
        let moment = Duration::from_nanos(random.below(whole.as_nanos()));
        match kill_share(&ci, moment) {
            Some(took) => whole = whole.min(took),
            None => {
                killed += 1;
                whole = whole.mul_f64(1.02);
            }
        }
        if killed % 5 == 0 {
            let (found, team) = laptop.search("cart pay");
            assert_eq!(found, names(&["fill_cart", "pay_cash"]), "round {round}, {moment:?}");
            assert_eq!(team["overlaidFiles"], 1, "round {round}, {moment:?}: {team}");
        }
        let shared = ci.share();
        let number = shared.split("generation ").nth(1).and_then(|rest| rest.split(':').next()?.parse().ok());
        assert!(number > Some(generation), "round {round}, {moment:?}: {shared}");
        generation = number.unwrap();
    }
    let (found, seen) = ci.search("pay");
    assert!(found.contains(&format!("pay_{round}")), "{found:?}");
    assert_eq!((&seen["generation"], &seen["overlaidFiles"]), (&generation.into(), &0.into()), "{seen}");
    // All that was left lying about is in nobody's way: another machine shares too.
    laptop.write("pay.py", &text(round + 1));
    let shared = laptop.share();
    assert!(shared.contains("of which 1 were sent"), "{shared}");
    format!("team {team}: killed {killed} of {round} shares, of about {whole:?}; generation {generation}")
}

#[test]
fn a_writer_killed_at_a_hundred_moments_takes_no_answer_from_a_reader_and_is_followed() {
    const TEAMS: u64 = 4;
    let kills = number("CHARTROOM_KILLS", 100);
    let told: Vec<String> = std::thread::scope(|scope| {
        let teams: Vec<_> =
            (0..TEAMS).map(|team| scope.spawn(move || kill_writers(team, kills / TEAMS))).collect();
        let told = |team: std::thread::ScopedJoinHandle<'_, String>| {
            team.join().unwrap_or_else(|why| std::panic::resume_unwind(why))
        };
        teams.into_iter().map(told).collect()
    });
    println!("{}", told.join("\n"));
}
