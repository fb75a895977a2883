// The page's entry: styles, then the app.

import './styles/base.css'
import './styles/layout.css'
import './styles/conversation.css'
import './styles/tools.css'
import './styles/inspector.css'
import './styles/question.css'
import './styles/foot.css'
import { render } from 'solid-js/web'
import { App } from './App'
import { enter } from './key'
import { followShellsAgain } from './store/shellMemory'

await enter()
const root = document.getElementById('root')
if (root) render(() => <App />, root)
followShellsAgain()
