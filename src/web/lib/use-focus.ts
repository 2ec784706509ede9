import { useEffect, useRef } from 'preact/hooks'

/** For what appears after an action: its first field has the focus. */
export function useFocus<E extends HTMLElement>() {
  const ref = useRef<E>(null)
  useEffect(() => ref.current?.querySelector('input')?.focus(), [])
  return ref
}
