import type { ComponentChildren } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'

/** Shows something else while its children cannot be drawn with what they got. `of`: when this changes, they are tried again. */
export function Guarded({ of, instead, children }: { of: string; instead: ComponentChildren; children: ComponentChildren }) {
  const [failure, forget] = useErrorBoundary()
  useEffect(() => {
    if (failure) forget()
  }, [of])
  return <>{failure ? instead : children}</>
}
