//! Random scenes of boxes against arithmetic, as in the quick tests, and many more.
use crate::common::scenes;

#[test]
#[ignore = "takes minutes"]
fn of_ten_thousand_scenes_none_is_wrong_in_silence() {
    println!("{} scenes are doubtful", scenes::check(1_000..11_000));
}
