import { closeBrackets } from '@codemirror/autocomplete'
import { indentWithTab } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { keymap } from '@codemirror/view'
import { createCodeView } from '../lib/code-view.ts'

/** An editor of a file of a plugin. Escape, then Tab, leaves it. */
export const openSource = (host: HTMLElement, label: string, text: string, onChange: (text: string) => void) =>
  createCodeView(host, {
    label,
    text,
    onChange,
    extensions: [javascript({ typescript: /\.tsx?$/.test(label), jsx: label.endsWith('x') }), closeBrackets(), keymap.of([indentWithTab])],
  })
