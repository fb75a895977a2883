mod choice;
mod collecting;
mod lifecycle;
mod memory;
mod questions;
mod scope;
mod timing;
