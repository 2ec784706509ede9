import { useEffect, useRef } from 'preact/hooks'
import { useProject } from '../lib/session.ts'
import { type CodeEditor, createCodeEditor } from './code-editor.ts'
import { checkStatement, completeStatement } from './language.ts'
import type { Variables } from './variables.ts'

/** The editor of statements. `onReady` gets it once, to write into it. */
export function Editor({
  text,
  onChange,
  onRun,
  onReady,
  variables,
}: {
  text: string
  variables: Variables
  onChange: (text: string) => void
  onRun: () => void
  onReady: (editor: CodeEditor) => void
}) {
  const project = useProject()
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef({ onChange, onRun, variables })
  latest.current = { onChange, onRun, variables }
  useEffect(() => {
    const editor = createCodeEditor(host.current!, {
      label: 'SQL statement. Ctrl+Enter runs it, Ctrl+Space completes.',
      text,
      onChange: (changed) => latest.current.onChange(changed),
      onRun: () => latest.current.onRun(),
      check: (statement) => checkStatement(project, statement, latest.current.variables),
      complete: (context) => completeStatement(project, context),
    })
    onReady(editor)
    return () => editor.destroy()
  }, [])
  return <div class="code-host" ref={host} />
}
