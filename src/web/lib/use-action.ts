import { useCallback, useState } from 'preact/hooks'

export interface Action {
  readonly error: Error | null
  readonly isBusy: boolean
  /** True when it ended well. One at a time. */
  run(work: () => Promise<unknown>): Promise<boolean>
}

/** A change that somebody asked for: at work, done, or refused. */
export function useAction(): Action {
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  const run = useCallback(async (work: () => Promise<unknown>) => {
    setBusy(true)
    setError(null)
    try {
      await work()
      return true
    } catch (failure) {
      setError(failure as Error)
      return false
    } finally {
      setBusy(false)
    }
  }, [])
  return { error, isBusy, run }
}
