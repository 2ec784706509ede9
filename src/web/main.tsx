import { render } from 'preact'
import { App } from './app.tsx'
import { addPalette } from './charts/palette.ts'
import './style/tokens.css'
import './style/base.css'
import './style/shell.css'
import './style/question.css'
import './style/charts.css'

addPalette()
render(<App />, document.getElementById('app')!)
