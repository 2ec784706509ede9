import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import type { CodeEditor } from './code-editor.ts'

/** Parameters of the address that name what is open. */
export interface Keeps {
  readonly view: string | null
  readonly insight: string | null
}

interface Statement {
  /** Of the editor. */
  readonly text: string
  /** As it was opened: an address without `q` means this one. */
  readonly opened: string
  /** Of the address. */
  readonly written: string | null
}

/** Writes the statement of the editor into the address, and the one of another address, as after a step back, into the editor. */
export function useStatementAddress(editor: RefObject<CodeEditor | null>, keeps: Keeps, { text, opened, written }: Statement) {
  const { link } = useProject()
  const addressed = useRef(written)
  useEffect(() => {
    if (written === addressed.current) return
    addressed.current = written
    editor.current?.setText(written ?? opened)
  }, [written])
  useEffect(() => {
    const q = text === opened ? null : text
    if (q === addressed.current) return
    const timer = setTimeout(() => {
      addressed.current = q
      go(linkTo(link('sql'), { ...keeps, q }), true)
    }, 400)
    return () => clearTimeout(timer)
  }, [text])
  return {
    /** The statement was saved: an address without `q` leaves the editor as it is. */
    forget: () => {
      addressed.current = null
    },
  }
}
