//! The life of a link and of a browser, on a clock of numbers.

use super::*;

const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

fn link(devices: &mut Devices, now: u64) -> Secret {
    let code = Secret::random().unwrap();
    devices.add_launch_code(code.clone(), now);
    code
}

/// Lets a browser in, and returns it with its cookie and its page's key.
fn let_in(devices: &mut Devices, before: Option<DeviceId>, now: u64) -> (DeviceId, Secret, Secret) {
    let code = link(devices, now);
    let arrival = devices.redeem(code.expose(), "Browser", before, now).unwrap().expect("the link is new");
    let device = devices.device_of(arrival.cookie.expose(), now).expect("the cookie is known");
    let key = devices.enter(&device, arrival.code.expose(), now).unwrap().expect("the page is at once there");
    (device, arrival.cookie, key)
}

#[test]
fn a_link_and_the_code_that_it_leaves_work_once() {
    let mut devices = Devices::default();
    let code = link(&mut devices, 0);
    let arrival = devices.redeem(code.expose(), "Browser", None, 0).unwrap().expect("the first use");
    assert!(devices.redeem(code.expose(), "Browser", None, 0).unwrap().is_none(), "the second use");
    let device = devices.device_of(arrival.cookie.expose(), 0).unwrap();
    assert!(!devices.is_inside(&device, 0), "it has no key yet");
    assert!(devices.enter(&device, arrival.cookie.expose(), 0).unwrap().is_none(), "the cookie buys nothing");
    let key = devices.enter(&device, arrival.code.expose(), 0).unwrap().expect("the first use");
    assert!(devices.enter(&device, arrival.code.expose(), 0).unwrap().is_none(), "the second use");
    assert!(devices.is_key(&device, key.expose(), 0));
}

#[test]
fn the_halves_of_two_browsers_do_not_fit() {
    let mut devices = Devices::default();
    let (one, _, key_of_one) = let_in(&mut devices, None, 0);
    let (two, cookie_of_two, key_of_two) = let_in(&mut devices, None, 0);
    assert_eq!(devices.device_of(cookie_of_two.expose(), 0), Some(two.clone()));
    assert!(devices.is_key(&one, key_of_one.expose(), 0) && devices.is_key(&two, key_of_two.expose(), 0));
    assert!(!devices.is_key(&two, key_of_one.expose(), 0));
    let code = link(&mut devices, 0);
    let arrival = devices.redeem(code.expose(), "Browser", None, 0).unwrap().unwrap();
    assert!(
        devices.enter(&two, arrival.code.expose(), 0).unwrap().is_none(),
        "the code is another browser's"
    );
}

#[test]
fn links_arrivals_and_browsers_expire() {
    let mut devices = Devices::default();
    let (in_time, late) = (link(&mut devices, 0), link(&mut devices, 0));
    let arrival = devices.redeem(in_time.expose(), "Browser", None, HOUR - 1).unwrap().expect("in time");
    assert!(devices.redeem(late.expose(), "Browser", None, HOUR).unwrap().is_none(), "an hour later");
    let device = devices.device_of(arrival.cookie.expose(), HOUR).unwrap();
    assert!(
        devices.enter(&device, arrival.code.expose(), 2 * HOUR).unwrap().is_none(),
        "the page never came"
    );
    assert_eq!(devices.device_of(arrival.cookie.expose(), 2 * HOUR), None);

    let (device, cookie, key) = let_in(&mut devices, None, DAY);
    let last = 31 * DAY - 1;
    assert!(devices.is_key(&device, key.expose(), last) && devices.is_inside(&device, last));
    assert_eq!(devices.device_of(cookie.expose(), last), Some(device.clone()));
    let over = 31 * DAY;
    assert!(!devices.is_key(&device, key.expose(), over) && !devices.is_inside(&device, over));
    assert_eq!((devices.device_of(cookie.expose(), over), devices.list(over)), (None, Vec::new()));
}

#[test]
fn revoking_one_leaves_the_others_and_revoking_all_leaves_nothing() {
    let mut devices = Devices::default();
    let (one, ..) = let_in(&mut devices, None, 0);
    let (two, cookie, key) = let_in(&mut devices, None, 0);
    assert_eq!((devices.revoke(Some("unknown")), devices.revoke(Some(&one.0))), (0, 1));
    assert!(!devices.is_inside(&one, 0) && devices.is_inside(&two, 0));

    let unused = link(&mut devices, 0);
    let code = link(&mut devices, 0);
    let arrival = devices.redeem(code.expose(), "Browser", None, 0).unwrap().unwrap();
    let arriving = devices.device_of(arrival.cookie.expose(), 0).unwrap();
    assert_eq!(devices.revoke(None), 1);
    assert!(!devices.is_key(&two, key.expose(), 0));
    assert_eq!(devices.device_of(cookie.expose(), 0), None);
    assert!(devices.redeem(unused.expose(), "Browser", None, 0).unwrap().is_none());
    assert!(devices.enter(&arriving, arrival.code.expose(), 0).unwrap().is_none());
}

#[test]
fn a_browser_that_comes_by_another_link_is_still_one() {
    let mut devices = Devices::default();
    let (one, ..) = let_in(&mut devices, None, 0);
    let (two, ..) = let_in(&mut devices, Some(one), 5);
    let expected =
        Device { device_id: two.0, browser: "Browser".to_owned(), entered_at: 5, expires_at: 5 + 30 * DAY };
    assert_eq!(devices.list(5), [expected]);
}

#[test]
fn old_links_and_browsers_make_room() {
    let mut devices = Devices::default();
    let first = link(&mut devices, 0);
    for _ in 0..MAX_CODES {
        link(&mut devices, 0);
    }
    assert!(devices.redeem(first.expose(), "Browser", None, 0).unwrap().is_none());
    let (oldest, ..) = let_in(&mut devices, None, 0);
    for _ in 0..MAX_DEVICES {
        let_in(&mut devices, None, 0);
    }
    assert!(!devices.is_inside(&oldest, 0));
    assert_eq!(devices.entered().len(), MAX_DEVICES);
}

#[test]
fn nothing_that_is_kept_opens_anything() {
    let mut devices = Devices::default();
    let (device, cookie, key) = let_in(&mut devices, None, 0);
    let kept = serde_json::to_string(devices.entered()).unwrap();
    assert!(!kept.contains(cookie.expose()) && !kept.contains(key.expose()), "{kept}");
    let mut devices = Devices::known(serde_json::from_str(&kept).unwrap());
    assert_eq!(devices.device_of(cookie.expose(), 0), Some(device.clone()), "it is known again");
    assert!(devices.is_key(&device, key.expose(), 0));
    assert_eq!(devices.revoke(None), 1);
}
