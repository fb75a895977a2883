// The whole page.

import { FirstRun } from './views/FirstRun'

export function App() {
  return <FirstRun />
}
