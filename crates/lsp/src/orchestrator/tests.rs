mod collecting;
mod lifecycle;
mod memory;
mod scope;
mod timing;
