import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'
import solid from 'vite-plugin-solid'

/** A file that fits into one packet is not worth a second form. */
const WORTH_BYTES = 1024

/** Writes each file once more as brotli and as gzip, so that the server sends what a browser takes without any work. */
function compress(): Plugin {
  let folder = ''
  return {
    name: 'compress',
    apply: 'build',
    configResolved: config => {
      folder = path.resolve(config.root, config.build.outDir)
    },
    closeBundle: async () => {
      const all = await readdir(folder, { recursive: true, withFileTypes: true })
      for (const { parentPath, name } of all.filter(entry => entry.isFile())) {
        const file = path.join(parentPath, name)
        const bytes = await readFile(file)
        if (bytes.length <= WORTH_BYTES) continue
        const hint = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }
        const forms = {
          br: await promisify(brotliCompress)(bytes, hint),
          gz: await promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
        }
        for (const [suffix, form] of Object.entries(forms)) {
          if (form.length < bytes.length) await writeFile(`${file}.${suffix}`, form)
        }
      }
    },
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [solid(), compress()],
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
