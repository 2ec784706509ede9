import { type Inputs, useCallback, useEffect, useRef, useState } from 'preact/hooks'

export interface Loaded<T> {
  /** Of the last load that ended well: it stays while another one runs. */
  readonly value: T | null
  readonly error: Error | null
  readonly isLoading: boolean
  reload(): void
  cancel(): void
}

/** Loads when the inputs change, and ends what runs when they change again or the page is left. `isAgain`: somebody asked to reload. */
export function useLoaded<T>(load: (signal: AbortSignal, isAgain: boolean) => Promise<T>, inputs: Inputs): Loaded<T> {
  const [state, setState] = useState<{ value: T | null; error: Error | null; isLoading: boolean }>({
    value: null,
    error: null,
    isLoading: true,
  })
  const [round, setRound] = useState(0)
  const running = useRef<AbortController | null>(null)
  const loaded = useRef(0)
  const asked = useRef<Inputs | null>(null)
  // From the first moment on: the effect below runs after the page was drawn with the new inputs.
  const isOther = asked.current === null || asked.current.some((input, i) => input !== inputs[i])
  useEffect(() => {
    const control = new AbortController()
    running.current = control
    asked.current = inputs
    setState((before) => ({ ...before, isLoading: true }))
    const isAgain = loaded.current !== round
    loaded.current = round
    load(control.signal, isAgain).then(
      (value) => control.signal.aborted || setState({ value, error: null, isLoading: false }),
      (error: Error) => control.signal.aborted || setState((before) => ({ ...before, error, isLoading: false })),
    )
    return () => control.abort()
  }, [...inputs, round])
  const reload = useCallback(() => setRound((before) => before + 1), [])
  const cancel = useCallback(() => {
    running.current?.abort()
    setState((before) => ({ ...before, isLoading: false, error: new Error('Cancelled.') }))
  }, [])
  return { ...state, isLoading: state.isLoading || isOther, reload, cancel }
}
