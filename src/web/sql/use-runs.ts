import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answer, Query } from '../lib/api.ts'
import type { CurrentProject } from '../lib/session.ts'
import { useBackground } from './background.ts'
import type { CodeEditor } from './code-editor.ts'
import { useHistory } from './history.ts'
import { errorMarks } from './language.ts'
import { statementQuery, type Variables } from './variables.ts'

export type Asked = 'run' | 'explain'

export interface Done {
  readonly statement: string
  /** As it was asked. */
  readonly query: Query
  readonly answer: Answer
  readonly ms: number
}

/** Runs or explains the statement of the editor, at once or in the background: the last answer, the last failure, and what runs now. */
export function useRuns(project: CurrentProject, editor: RefObject<CodeEditor | null>, text: string, variables: Variables) {
  const [done, setDone] = useState<Done | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [explained, setExplained] = useState<Answer | null>(null)
  const [working, setWorking] = useState<Asked | null>(null)
  const history = useHistory(project.id)
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])

  const show = (statement: string, answer: Answer, ms: number, isNew = true) => {
    editor.current?.mark([])
    setDone({ statement, query: statementQuery(statement, variables), answer, ms })
    if (isNew) history.add(statement, ms, Array.isArray(answer.results) ? answer.results.length : 0)
  }
  const fail = (statement: string, failure: Error, ms: number | null) => {
    setError(failure)
    const marks = errorMarks(failure, statement.length)
    if (marks[0] && editor.current?.text() === statement) {
      editor.current.mark(marks)
      editor.current.goTo(marks[0].from)
    }
    if (ms !== null) history.add(statement, ms, null)
  }
  const background = useBackground(project, ({ statement, ms, result, isAgain }) => {
    setError(null)
    if (result instanceof Error) fail(statement, result, ms)
    else show(statement, result, ms, !isAgain)
  })
  const startInBackground = async () => {
    const statement = editor.current?.text() ?? text
    if (statement.trim() === '') return setError(new Error('Write a statement first.'))
    setError(null)
    await background.start(statement, statementQuery(statement, variables)).catch((failure: Error) => fail(statement, failure, 0))
  }

  const ask = async (what: Asked) => {
    const statement = editor.current?.text() ?? text
    if (statement.trim() === '') return setError(new Error('Write a statement first.'))
    running.current?.abort()
    const control = new AbortController()
    running.current = control
    background.forget()
    setWorking(what)
    setError(null)
    const start = performance.now()
    try {
      const query = { ...statementQuery(statement, variables), ...(what === 'explain' && { explain: true }) }
      const answer = await project.ask(query, control.signal, 'force_blocking')
      const ms = performance.now() - start
      if (what === 'run') show(statement, answer, ms)
      else {
        editor.current?.mark([])
        setExplained(answer)
      }
    } catch (failure) {
      if (control.signal.aborted && running.current !== control) return
      if (control.signal.aborted) setError(new Error('Cancelled.'))
      else fail(statement, failure as Error, what === 'run' ? performance.now() - start : null)
    }
    if (running.current === control) setWorking(null)
  }

  return {
    done,
    error,
    setError,
    working,
    ask,
    cancel: () => running.current?.abort(),
    explained,
    closeExplained: () => setExplained(null),
    background: background.run,
    startInBackground,
    cancelBackground: () => void background.cancel().catch(setError),
    history,
  }
}
