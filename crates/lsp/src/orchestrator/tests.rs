mod collecting;
mod lifecycle;
mod scope;
mod timing;
