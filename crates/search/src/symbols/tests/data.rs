//! SQL, CSS.

use super::check;
use expect_test::expect;

#[test]
fn sql_definitions_and_uses() {
    check(
        "db/schema.sql",
        r#"CREATE TABLE IF NOT EXISTS app.users (id INT PRIMARY KEY, name TEXT);
CREATE VIEW v_users AS
  SELECT * FROM app.users JOIN teams ON 1=1;
CREATE OR REPLACE FUNCTION add_one(n integer) RETURNS integer AS $$
BEGIN
  RETURN helper(n) + 1;
END;
$$ LANGUAGE plpgsql;
CREATE TYPE mood AS ENUM ('sad', 'ok');
SELECT add_one(1) FROM v_users;
"#,
        expect![[r#"
            1-1 table users [users]
            2-3 table v_users [v_users]
            4-8 function add_one(n integer) [add_one]
            9-9 type mood [mood]
            3 v_users calls users of app
            3 v_users calls teams
            6 add_one calls helper
            10 (file) calls add_one
            10 (file) calls v_users
        "#]],
    );
}

#[test]
fn css_rules_and_imports() {
    check(
        "web/main.css",
        r#"@import "base.css";
:root { --main: red; }
.button, #main > a:hover {
  color: var(--main);
}
@media (max-width: 3px) {
  .small { color: red }
}
@keyframes spin { from { a: b } to { a: c } }
"#,
        expect![[r#"
            2-2 rule :root [:root]
            3-5 rule .button, #main > a:hover [.button, #main > a:hover]
            7-7 rule .small [.small]
            9-9 rule spin [spin]
            1 "" = base.css
        "#]],
    );
}
