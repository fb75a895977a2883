// Starts the stand-in server: `npm run mock`, then `npm run dev` beside it.

import { startMock } from './server.mjs'

const mock = await startMock({ port: Number(process.env.PORT ?? 4870), kind: process.argv[2] ?? 'full' })
console.log(`the stand-in server is ready: ${mock.url}`)
