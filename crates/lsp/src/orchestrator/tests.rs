mod choice;
mod collecting;
mod lifecycle;
mod memory;
mod outside;
mod questions;
mod scope;
mod timing;
