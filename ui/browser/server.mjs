// The real server with the real agents on a scripted model API: see real.story.mjs.

export async function startReal() {
  throw new Error('not yet')
}
