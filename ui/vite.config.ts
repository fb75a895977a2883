import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import solid from 'vite-plugin-solid'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [solid()],
  build: {
    target: 'es2022',
    // light-dark() stays as it is written: every browser since 2024 knows it.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The page is served with a policy that forbids inline scripts and data: URLs for code; nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:4870', '/ws': { target: 'ws://127.0.0.1:4870', ws: true } } },
})
