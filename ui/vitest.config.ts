import solid from 'vite-plugin-solid'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  plugins: [solid()],
  // A test shows what is drawn, not how quick a loaded machine is.
  test: { environment: 'happy-dom', include: ['tests/**/*.test.{ts,tsx}'], testTimeout: 60_000 },
})
