import { render } from 'preact'
import { App } from './app.tsx'
import { addPalette } from './charts/palette.ts'
import './style.css'

addPalette()
render(<App />, document.getElementById('app')!)
