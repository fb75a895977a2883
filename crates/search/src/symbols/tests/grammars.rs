//! Kotlin, Swift, Scala, Dart.

use super::check;
use expect_test::expect;

#[test]
fn kotlin_definitions_calls_and_imports() {
    check(
        "src/net/Server.kt",
        r#"package app.net

import app.log.Log
import app.util.*
import app.io.File as F

const val LIMIT = 3

interface Runner { fun run(n: Int): Int }

open class Server(private val port: Int) : Base(port), Runner {
    private val log: Log = Log(port)
    @Override
    override fun run(n: Int): Int {
        val w = Worker(n)
        this.stop()
        log.info("x")
        w.items?.forEach { helper(it) }
        return helper(n)
    }
    companion object {
        fun of(p: Int) = Server(p)
    }
}
object Registry { fun all() {} }
enum class Mode { A, B }
suspend fun String.shout(): String = uppercase()
fun helper(n: Int): Int = n
typealias Id = Int
"#,
        expect![[r#"
            7-7 constant LIMIT [LIMIT]
            9-9 class Runner [Runner]
              9-9 method Runner.run(n: Int) [Runner.run]
            11-24 class Server [Server]
              13-20 method Server.run(n: Int) [Server.run]
              22-22 method Server.of(p: Int) [Server.of]
            25-25 class Registry [Registry]
              25-25 method Registry.all() [Registry.all]
            26-26 class Mode [Mode]
            27-27 function shout() [shout]
            28-28 function helper(n: Int) [helper]
            29-29 type Id [Id]
            11 Server extends Base
            11 Server extends Runner
            11 Server calls Base
            12 Server calls Log
            13 Server.run calls Override
            15 Server.run calls Worker
            16 Server.run calls stop of this (own)
            17 Server.run calls info of log
            18 Server.run calls forEach of w.items
            18 Server.run calls helper
            19 Server.run calls helper
            22 Server.of calls Server
            27 shout calls uppercase
            3 "Log" = app.log . Log
            4 "*" = app.util . *
            5 "F" = app.io . File
        "#]],
    );
}

#[test]
fn swift_definitions_calls_and_imports() {
    check(
        "Sources/Server.swift",
        r#"import Foundation
protocol Runner { func run(_ n: Int) -> Int }
class Server: Base, Runner {
    let log: Log
    static let LIMIT = 3
    init(port: Int) { self.log = Log(port) }
    func run(_ n: Int, times: Int) -> Int {
        let w = Worker(n)
        self.stop()
        log.info("x")
        w.items?.forEach { helper($0) }
        return helper(n)
    }
    var size: Int { return count() }
}
extension Server { func stop() {} }
struct Point { var x: Int }
enum Mode { case a; func next() {} }
func helper(_ n: Int) -> Int { return n }
typealias Id = Int
"#,
        expect![[r#"
            2-2 interface Runner [Runner]
              2-2 method Runner.run(_ n: Int) [Runner.run]
            3-15 class Server [Server]
              5-5 constant LIMIT [Server.LIMIT]
              6-6 constructor Server.init(port: Int) [Server.init]
              7-13 method Server.run(_ n: Int, times: Int) [Server.run]
              14-14 property size [Server.size]
            16-16 impl Server [Server]
              16-16 method Server.stop() [Server.stop]
            17-17 struct Point [Point]
            18-18 enum Mode [Mode]
              18-18 method Mode.next() [Mode.next]
            19-19 function helper(_ n: Int) [helper]
            20-20 type Id [Id]
            3 Server extends Base
            3 Server extends Runner
            6 Server.init calls Log
            8 Server.run calls Worker
            9 Server.run calls stop of self (own)
            10 Server.run calls info of log
            11 Server.run calls forEach of w.items
            11 Server.run calls helper
            12 Server.run calls helper
            14 Server.size calls count
        "#]],
    );
}

#[test]
fn scala_definitions_calls_and_imports() {
    check(
        "src/Server.scala",
        r#"package app.net

import app.log.Log
import app.util.{A, B => C}
import app.io._

trait Runner { def run(n: Int): Int }

class Server(port: Int) extends Base(port) with Runner {
  val log: Log = new Log(port)
  def run(n: Int): Int = {
    val w = Worker(n)
    this.stop()
    log.info("x")
    w.items.map(x => helper[Int](x))
    helper(n)
  }
}
object Server { def of(p: Int) = new Server(p); val LIMIT = 3 }
case class Point(x: Int)
type Id = Int
enum Mode { case A, B }
def helper(n: Int): Int = n
"#,
        expect![[r#"
            7-7 trait Runner [Runner]
              7-7 method Runner.run(n: Int) [Runner.run]
            9-18 class Server [Server]
              11-17 method Server.run(n: Int) [Server.run]
            19-19 class Server [Server]
              19-19 method Server.of(p: Int) [Server.of]
              19-19 constant LIMIT [Server.LIMIT]
            20-20 class Point [Point]
            21-21 type Id [Id]
            22-22 enum Mode [Mode]
            23-23 function helper(n: Int) [helper]
            9 Server extends Base
            9 Server extends Runner
            10 Server calls Log
            12 Server.run calls Worker
            13 Server.run calls stop of this (own)
            14 Server.run calls info of log
            15 Server.run calls map of w.items
            15 Server.run calls helper
            16 Server.run calls helper
            19 Server.of calls Server
            3 "Log" = app.log . Log
            4 "A" = app.util . A
            4 "C" = app.util . B
            5 "*" = app.io
        "#]],
    );
}

#[test]
fn dart_definitions_calls_and_imports() {
    check(
        "lib/server.dart",
        r#"import 'package:app/src/log.dart';
import '../util.dart' as util;
abstract class Runner { int run(int n); }
class Server extends Base with Mixin implements Runner {
  final Log log;
  Server(this.log) { start(); }
  Server.named(int a) : log = Log(a);
  factory Server.of() => Server(Log(1));
  @override
  int run(int n) {
    var w = Worker(n);
    this.stop();
    log.info('x');
    w.items.forEach((i) => helper(i));
    util.clean();
    return helper(n);
  }
  int get size => 1;
  static void all() {}
}
mixin Mixin { void m() {} }
extension Ext on String { void shout() {} }
enum Mode { a, b }
typedef Id = int;
int helper(int n) => n;
Future<void> main() async { await helper(1); }
"#,
        expect![[r#"
            3-3 class Runner [Runner]
              3-3 method Runner.run(int n) [Runner.run]
            4-20 class Server [Server]
              6-6 constructor Server.Server(this.log) [Server.Server]
              7-7 constructor Server.Server(int a) [Server.Server]
              8-8 constructor Server.Server() [Server.Server]
              9-17 method Server.run(int n) [Server.run]
              18-18 property size [Server.size]
              19-19 method Server.all() [Server.all]
            21-21 trait Mixin [Mixin]
              21-21 method Mixin.m() [Mixin.m]
            22-22 impl Ext [Ext]
              22-22 method Ext.shout() [Ext.shout]
            23-23 enum Mode [Mode]
            24-24 type Id [Id]
            25-25 function helper(int n) [helper]
            26-26 function main() [main]
            4 Server extends Base
            4 Server extends Mixin
            4 Server extends Runner
            6 Server.Server calls start
            7 Server.Server calls Log
            8 Server.Server calls Server
            8 Server.Server calls Log
            9 Server.run calls override
            11 Server.run calls Worker
            12 Server.run calls stop of this (own)
            13 Server.run calls info of log
            14 Server.run calls forEach of w.items
            14 Server.run calls helper
            15 Server.run calls clean of util
            16 Server.run calls helper
            26 main calls helper
            1 "*" = src/log
            2 "util" = util
        "#]],
    );
}
