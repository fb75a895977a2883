//! Rust, Go, Java.

use super::check;
use expect_test::expect;

#[test]
fn rust_definitions_calls_and_imports() {
    check(
        "src/server.rs",
        r#"use std::{io, net::TcpListener as Listener};
/// Serves.
pub struct Server<T> { inner: T }
const LIMIT: usize = 3;
impl<T: Clone> Server<T> {
    pub async fn run(&self, port: u16) -> io::Result<()> {
        let listener = Listener::bind(port)?;
        self.accept(&listener);
        helper::<T>();
        println!("x");
        const LOCAL: u8 = 1;
        Ok(())
    }
}
impl Drop for Server<u8> { fn drop(&mut self) { crate::log::flush() } }
trait Speak { fn speak(&self); }
mod inner { pub enum Kind { A, B } }
fn helper<T>() {}
macro_rules! shout { () => {} }
"#,
        expect![[r#"
            3-3 struct Server [Server]
            4-4 constant LIMIT [LIMIT]
            5-14 impl Server<T> [Server]
              6-13 async method Server.run(&self, port: u16) [Server.run]
            15-15 impl Drop for Server<u8> [Server]
              15-15 method Server.drop(&mut self) [Server.drop]
            16-16 trait Speak [Speak]
              16-16 method Speak.speak(&self) [Speak.speak]
            17-17 module inner [inner]
              17-17 enum Kind [inner.Kind]
            18-18 function helper() [helper]
            19-19 macro shout() [shout]
            7 Server.run calls bind of Listener
            8 Server.run calls accept of self (own)
            9 Server.run calls helper
            10 Server.run expands println
            12 Server.run calls Ok
            15 Server extends Drop
            15 Server.drop calls flush of crate.log
            1 "io" = std . io
            1 "Listener" = std::net . TcpListener
        "#]],
    );
}

#[test]
fn go_definitions_calls_and_imports() {
    check(
        "server.go",
        r#"package server

import (
	"fmt"
	lg "example.com/log"
)

// Server serves.
type Server struct{ port int }

type Runner interface{ Run() error }

const Limit = 3

var (
	a = 1
	b = 2
)

func New(port int) *Server { return &Server{port: port} }

func (s *Server) Run(depth int) error {
	fmt.Println("x")
	s.stop()
	lg.Info(New(1))
	return nil
}
"#,
        expect![[r#"
            9-9 struct Server [Server]
            11-11 interface Runner [Runner]
              11-11 method Runner.Run() [Runner.Run]
            13-13 constant Limit [Limit]
            16-16 constant a [a]
            17-17 constant b [b]
            20-20 function New(port int) [New]
            22-27 method Server.Run(depth int) [Server.Run]
            23 Server.Run calls Println of fmt
            24 Server.Run calls stop of s
            25 Server.Run calls Info of lg
            25 Server.Run calls New
            3 "fmt" = fmt
            3 "lg" = example.com/log
        "#]],
    );
}

#[test]
fn java_definitions_calls_and_imports() {
    check(
        "src/Server.java",
        r#"package com.example;
import java.util.List;
import static com.example.Log.info;

@Deprecated
public class Server {
    public Server(int port) { this.port = port; }
    @Override
    public void run(List<String> names) {
        info("x");
        this.stop();
        names.forEach(n -> new Worker(n).go());
    }
    interface Hook { void call(); }
    enum Mode { A, B }
}
"#,
        expect![[r#"
            5-16 class Server [Server]
              7-7 constructor Server.Server(int port) [Server.Server]
              8-13 method Server.run(List<String> names) [Server.run]
              14-14 interface Hook [Server.Hook]
                14-14 method Hook.call() [Server.Hook.call]
              15-15 enum Mode [Server.Mode]
            5 Server calls Deprecated
            8 Server.run calls Override
            10 Server.run calls info
            11 Server.run calls stop of this (own)
            12 Server.run calls forEach of names
            12 Server.run calls go of Worker()
            12 Server.run calls Worker
            2 "List" = java.util . List
            3 "info" = com.example.Log . info
        "#]],
    );
}
