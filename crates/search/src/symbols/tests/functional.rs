//! Elixir, Haskell, OCaml.

use super::check;
use expect_test::expect;

#[test]
fn elixir_definitions_calls_and_imports() {
    check(
        "lib/server.ex",
        r#"defmodule App.Server do
  use GenServer
  alias App.Log
  def run(n, opts \\ []) when n > 1 do
    Log.info("x")
    helper(n)
    n |> clean() |> App.Log.warn(1)
  end
  def run(n, _), do: n
  defp helper(n), do: n
  def stop, do: :ok
  defmacro mac(x) do
    quote do: unquote(x)
  end
end
defprotocol Size do
  def size(x)
end
defimpl Size, for: Map do
  def size(m), do: map_size(m)
end
"#,
        expect![[r#"
            1-15 module App.Server [App.Server]
              4-9 function run(n, opts \\ []) [App.Server.run]
              10-10 function helper(n) [App.Server.helper]
              11-11 function stop() [App.Server.stop]
              12-14 macro mac(x) [App.Server.mac]
            16-18 interface Size [Size]
              17-17 method Size.size(x) [Size.size]
            19-21 impl Size [Size]
              20-20 method Size.size(m) [Size.size]
            5 App.Server.run calls info of Log
            6 App.Server.run calls helper
            7 App.Server.run calls clean
            7 App.Server.run calls warn of App.Log
            13 App.Server.mac calls quote
            13 App.Server.mac calls unquote
            20 Size.size calls map_size
            2 "" = GenServer
            3 "" = App.Log
        "#]],
    );
}

#[test]
fn haskell_definitions_calls_and_imports() {
    check(
        "src/App/Server.hs",
        r#"module App.Server (run, Server(..)) where

import qualified Data.Map as M
import App.Log (info, Level(..))
import App.Util

data Server = Server { port :: Int } | Other
newtype Id = Id Int
type Name = String

class Runner a where
  runIt :: a -> Int

instance Runner Server where
  runIt s = helper (port s)

-- | Runs.
run :: Int -> IO Int
run n = do
  info "x" n
  M.insert 1 2 M.empty
  helper $ clean n
  where
    inner x = helper x

helper :: Int -> Int
helper 0 = 1
helper n = n

both = run . clean
"#,
        expect![[r#"
            7-7 enum Server [Server]
            8-8 struct Id [Id]
            9-9 type Name [Name]
            11-12 trait Runner [Runner]
              12-12 method Runner.runIt() [Runner.runIt]
            14-15 impl Runner [Runner]
              15-15 method Runner.runIt(s) [Runner.runIt]
            18-24 function run(n) [run]
              24-24 function inner(x) [run.inner]
            26-28 function helper(0) [helper]
            30-30 function both() [both]
            15 Runner.runIt calls helper
            15 Runner.runIt calls port
            20 run calls info
            21 run calls insert of M
            22 run calls helper
            22 run calls clean
            24 run.inner calls helper
            30 both calls run
            30 both calls clean
            3 "M" = Data.Map
            4 "info" = App.Log . info
            4 "Level" = App.Log . Level
            5 "*" = App.Util
        "#]],
    );
}

#[test]
fn ocaml_definitions_calls_and_imports() {
    check(
        "src/server.ml",
        r#"open App.Log
let limit = 3
type server = { port : int }
module Inner = struct
  let go x = x + 1
end
module type S = sig val run : int -> int end
class point x = object method get = x method set v = helper v end
let helper n = n
let rec run ?(a=1) n =
  let w = Worker.make n in
  Log.info "x" w;
  helper (Inner.go n) |> clean
and other () = run 1
let twice = fun x -> run x
let () = run 2
external f : int -> int = "f"
"#,
        expect![[r#"
            2-2 constant limit [limit]
            3-3 type server [server]
            4-6 module Inner [Inner]
              5-5 function go(x) [Inner.go]
            7-7 interface S [S]
              7-7 method S.run() [S.run]
            8-8 class point [point]
              8-8 method point.get() [point.get]
              8-8 method point.set(v) [point.set]
            9-9 function helper(n) [helper]
            10-13 function run(?(a=1) n) [run]
            14-14 function other() [other]
            15-15 function twice() [twice]
            17-17 function f() [f]
            8 point.set calls helper
            11 run calls make of Worker
            12 run calls info of Log
            13 run calls clean
            13 run calls helper
            13 run calls go of Inner
            14 other calls run
            15 twice calls run
            16 (file) calls run
            1 "*" = App.Log
        "#]],
    );
}
