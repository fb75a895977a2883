//! Lua, Zig, R.

use super::check;
use expect_test::expect;

#[test]
fn lua_definitions_calls_and_imports() {
    check(
        "lib/server.lua",
        r#"local log = require("lib.log")
local M = {}
local function helper(a) return a end
function M.open(path) return helper(path) end
function M:run(port)
  self:stop()
  log.info(port)
end
return M
"#,
        expect![[r#"
            3-3 function helper(a) [helper]
            4-4 method M.open(path) [M.open]
            5-8 method M.run(port) [M.run]
            4 M.open calls helper
            6 M.run calls stop of self (own)
            7 M.run calls info of log
            1 "" = lib.log
        "#]],
    );
}

#[test]
fn zig_definitions_calls_and_imports() {
    check(
        "src/server.zig",
        r#"const std = @import("std");
const limit = 3;
pub const Server = struct {
    port: u16,
    pub fn run(self: *Server, depth: u8) void {
        self.stop();
        helper(depth);
    }
    fn stop(self: *Server) void {}
};
const Mode = enum { a, b };
fn helper(n: u8) void { std.debug.print("x", .{n}); }
"#,
        expect![[r#"
            1-1 constant std [std]
            2-2 constant limit [limit]
            3-10 struct Server [Server]
              5-8 method Server.run(self: *Server, depth: u8) [Server.run]
              9-9 method Server.stop(self: *Server) [Server.stop]
            11-11 enum Mode [Mode]
            12-12 function helper(n: u8) [helper]
            6 Server.run calls stop of self (own)
            7 Server.run calls helper
            12 helper calls print of std.debug
        "#]],
    );
}

#[test]
fn r_definitions_calls_and_imports() {
    check(
        "R/model.R",
        r#"source("R/log.R")
fit <- function(data, n = 1) {
  clean(data)
  stats::lm(y ~ x)
}
clean = function(data) data
"#,
        expect![[r#"
            2-5 function fit(data, n = 1) [fit]
            6-6 function clean(data) [clean]
            3 fit calls clean
            4 fit calls lm of stats
            1 "" = R/log.R
        "#]],
    );
}
