//! Python, JavaScript, TypeScript, Ruby, Bash.

use super::check;
use expect_test::expect;

#[test]
fn python_definitions_calls_and_imports() {
    check(
        "pkg/server.py",
        r#"import os.path as path, sys
from .log import (info, warn as w)
LIMIT = 3
lower = 4

@decorated(1)
class Server(Base):
    MODE = "x"

    @property
    async def run(self, port, *, depth=1):
        self.stop()
        path.join(info("x"), super().run())
        def inner(): w()
        return inner

def helper(a): return Server(a)
"#,
        expect![[r#"
            3-3 constant LIMIT [LIMIT]
            6-15 class Server [Server]
              8-8 constant MODE [Server.MODE]
              10-15 async method Server.run(self, port, *, depth=1) [Server.run]
                14-14 function inner() [Server.run.inner]
            17-17 function helper(a) [helper]
            6 (file) calls decorated
            7 Server extends Base
            10 Server calls property
            12 Server.run calls stop of self (own)
            13 Server.run calls join of path
            13 Server.run calls info
            13 Server.run calls run of super() (own)
            13 Server.run calls super
            14 Server.run.inner calls w
            17 helper calls Server
            1 "path" = os.path
            1 "sys" = sys
            2 "info" = .log . info
            2 "w" = .log . warn
        "#]],
    );
}

#[test]
fn javascript_definitions_calls_and_imports() {
    check(
        "src/app.jsx",
        r#"import React, { useState as state } from 'react';
import * as log from "./log.js";
const fs = require('fs');
export const LIMIT = 3;
export default class App extends React.Component {
  #timer = null;
  onClick = (event) => { this.render(); };
  async render(props, state) { return <Button label={log.info(1)} />; }
  static of() { return new App(); }
}
export const make = async (a, b) => helper(a);
function* walk(tree) { yield tree; }
module.exports.late = function (x) { return x(); };
const table = { open() { go(); }, close: () => stop() };
"#,
        expect![[r#"
            4-4 constant LIMIT [LIMIT]
            5-10 class App [App]
              7-7 method App.onClick(event) [App.onClick]
              8-8 async method App.render(props, state) [App.render]
              9-9 method App.of() [App.of]
            11-11 async function make(a, b) [make]
            12-12 function walk(tree) [walk]
            13-13 function module.exports.late(x) [module.exports.late]
            14-14 method open() [open]
            14-14 method close() [close]
            5 App extends Component of React
            7 App.onClick calls render of this (own)
            8 App.render calls Button
            8 App.render calls info of log
            9 App.of calls App
            11 make calls helper
            13 module.exports.late calls x
            14 open calls go
            14 close calls stop
            1 "React" = react . default
            1 "state" = react . useState
            2 "log" = ./log.js
            3 "fs" = fs
            5 "default" =  . App
        "#]],
    );
}

#[test]
fn typescript_definitions_calls_and_imports() {
    check(
        "src/service.ts",
        r#"import type { Options } from './options';
export interface Service { start(port: number): Promise<void>; }
export type Handler = (x: string) => void;
enum Mode { A, B }
namespace Inner { export function deep(): void {} }
export abstract class Base<T> implements Service {
  constructor(private readonly x: T) {}
  abstract stop(): void;
  async start(port: number): Promise<void> { this.stop(); make<T>(this.x!); }
}
declare function external(a: string): number;
export function make<T>(x: T): Base<T> { return new Base(x); }
"#,
        expect![[r#"
            2-2 interface Service [Service]
              2-2 method Service.start(port: number) [Service.start]
            3-3 type Handler [Handler]
            4-4 enum Mode [Mode]
            5-5 namespace Inner [Inner]
              5-5 function deep() [Inner.deep]
            6-10 class Base [Base]
              7-7 method Base.constructor(private readonly x: T) [Base.constructor]
              8-8 method Base.stop() [Base.stop]
              9-9 async method Base.start(port: number) [Base.start]
            11-11 function external(a: string) [external]
            12-12 function make(x: T) [make]
            6 Base extends Service
            9 Base.start calls stop of this (own)
            9 Base.start calls make
            12 make calls Base
            1 "Options" = ./options . Options
        "#]],
    );
}

#[test]
fn tsx_components_are_called_by_their_elements() {
    check(
        "src/view.tsx",
        r#"export const View: FC<Props> = ({ name }) => <main><Panel title={name} /><p>x</p></main>;
"#,
        expect![[r#"
            1-1 function View({ name }) [View]
            1 View calls Panel
        "#]],
    );
}

#[test]
fn ruby_definitions_calls_and_imports() {
    check(
        "lib/server.rb",
        r#"require 'json'
require_relative 'log'
module Net
  LIMIT = 3
  class Server < Base
    def self.open(path)
      new(path)
    end

    def run(port, depth: 1)
      self.stop
      JSON.parse(read(port))
      names.each { |n| Log.info(n) }
    end
  end
end
"#,
        expect![[r#"
            3-16 module Net [Net]
              4-4 constant LIMIT [Net.LIMIT]
              5-15 class Server [Net.Server]
                6-8 method Server.open(path) [Net.Server.open]
                10-14 method Server.run(port, depth: 1) [Net.Server.run]
            5 Net.Server extends Base
            7 Net.Server.open calls new
            11 Net.Server.run calls stop of self (own)
            12 Net.Server.run calls parse of JSON
            12 Net.Server.run calls read
            13 Net.Server.run calls each of names
            13 Net.Server.run calls info of Log
            1 "" = json
            2 "" = log
        "#]],
    );
}

#[test]
fn bash_functions_and_commands() {
    check(
        "bin/build.sh",
        r#"#!/usr/bin/env bash
source lib/common.sh
. ./env.sh
build() {
  compile "$1"
  echo done
}
function clean { rm -rf target; }
build all
"#,
        expect![[r#"
            4-7 function build() [build]
            8-8 function clean() [clean]
            5 build calls compile
            6 build calls echo
            8 clean calls rm
            9 (file) calls build
            2 "" = lib/common.sh
            3 "" = ./env.sh
        "#]],
    );
}
