//! C, C++, C#, PHP.

use super::check;
use expect_test::expect;

#[test]
fn c_definitions_calls_and_imports() {
    check(
        "src/list.c",
        r#"#include "list.h"
#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
struct node { int value; struct node *next; };
typedef struct node node_t;
enum color { RED };
static node_t *list_push(node_t *head, int value) {
    node_t *node = make_node(value);
    head->ops->attach(node);
    return node;
}
"#,
        expect![[r#"
            3-3 macro MAX(a, b) [MAX]
            4-4 struct node [node]
            5-5 type node_t [node_t]
            6-6 enum color [color]
            7-11 function list_push(node_t *head, int value) [list_push]
            8 list_push calls make_node
            9 list_push calls attach of head.ops
            1 "*" = list.h
            2 "*" = stdio.h
        "#]],
    );
}

#[test]
fn the_body_of_a_macro_calls_what_it_names() {
    check(
        "src/each.h",
        r#"#define LAST(list) list_at(list, \
    list_length(copy(list)) - sizeof(int))
#define EACH(list, f) do { f("go(1)"); (list)->each(list); if (done (list)) std::stop(); } while (0)
#define RENAMED other
#define GLUED(name) call_##name(1)
#define COUNT LAST(3)
"#,
        expect![[r#"
            1-2 macro LAST(list) [LAST]
            3-3 macro EACH(list, f) [EACH]
            4-4 macro RENAMED [RENAMED]
            5-5 macro GLUED(name) [GLUED]
            6-6 macro COUNT [COUNT]
            1 LAST calls list_at
            2 LAST calls list_length
            2 LAST calls copy
            3 EACH calls done
            3 EACH calls stop of std
            6 COUNT calls LAST
        "#]],
    );
}

#[test]
fn cpp_definitions_calls_and_imports() {
    check(
        "src/server.cpp",
        r#"#include "server.h"
namespace net {
template <typename T>
class Pool {
public:
    Pool(int size) { grow(size); }
    T take() { return items.pop(); }
};
struct Options { int port; };
}
void net::Server::run(const Options &options) {
    auto pool = new Pool<int>(3);
    std::sort(options);
    this->stop();
    make<int>(1);
}
int &counter() { static int n; return n; }
using Alias = int;
"#,
        expect![[r#"
            2-10 namespace net [net]
              3-8 class Pool [net.Pool]
                6-6 method Pool.Pool(int size) [net.Pool.Pool]
                7-7 method Pool.take() [net.Pool.take]
              9-9 struct Options [net.Options]
            11-16 method Server.run(const Options &options) [net.Server.run]
            17-17 function counter() [counter]
            18-18 type Alias [Alias]
            6 net.Pool.Pool calls grow
            7 net.Pool.take calls pop of items
            12 net.Server.run calls Pool
            13 net.Server.run calls sort of std
            14 net.Server.run calls stop of this (own)
            15 net.Server.run calls make
            1 "*" = server.h
        "#]],
    );
}

#[test]
fn c_sharp_definitions_calls_and_imports() {
    check(
        "Server.cs",
        r#"using System.Text;
namespace Example.Net {
    [Serializable]
    public class Server : Base {
        public int Port { get; set; }
        public Server(int port) { Port = port; }
        public async Task Run(string name) {
            Console.WriteLine(name);
            this.Stop();
            var w = new Worker(name);
            Helper<int>(1);
        }
    }
    interface IRun { void Run(); }
    record Point(int X, int Y);
}
"#,
        expect![[r#"
            2-16 namespace Example.Net [Example.Net]
              3-13 class Server [Example.Net.Server]
                5-5 property Port [Example.Net.Server.Port]
                6-6 constructor Server.Server(int port) [Example.Net.Server.Server]
                7-12 async method Server.Run(string name) [Example.Net.Server.Run]
              14-14 interface IRun [Example.Net.IRun]
                14-14 method IRun.Run() [Example.Net.IRun.Run]
              15-15 class Point [Example.Net.Point]
            4 Example.Net.Server extends Base
            8 Example.Net.Server.Run calls WriteLine of Console
            9 Example.Net.Server.Run calls Stop of this (own)
            10 Example.Net.Server.Run calls Worker
            11 Example.Net.Server.Run calls Helper
            1 "*" = System.Text
        "#]],
    );
}

#[test]
fn php_definitions_calls_and_imports() {
    check(
        "src/Server.php",
        r#"<?php
namespace App\Net;
use App\Log\{Logger, Level as L};
use function App\helper;

class Server extends Base {
    public function __construct(private int $port) {}
    public function run(string $name): void {
        $this->stop();
        Logger::info($name);
        helper($name);
        $w = new Worker($name);
    }
}
function boot(array $options) { return new Server(1); }
interface Runs { public function run(string $name): void; }
"#,
        expect![[r#"
            6-14 class Server [Server]
              7-7 method Server.__construct(private int $port) [Server.__construct]
              8-13 method Server.run(string $name) [Server.run]
            15-15 function boot(array $options) [boot]
            16-16 interface Runs [Runs]
              16-16 method Runs.run(string $name) [Runs.run]
            6 Server extends Base
            9 Server.run calls stop of this (own)
            10 Server.run calls info of Logger
            11 Server.run calls helper
            12 Server.run calls Worker
            15 boot calls Server
            3 "Logger" = App\Log . Logger
            3 "L" = App\Log . Level
            4 "helper" = App . helper
        "#]],
    );
}
