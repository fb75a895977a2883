// The package names its ES module by a path that is not there; this is the path that is.

declare module '@xterm/headless/lib-headless/xterm-headless.mjs' {
  export * from '@xterm/headless'
}
