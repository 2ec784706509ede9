import { useEffect, useRef } from 'preact/hooks'

/** What was added is filled in next: its first field has the focus. `list`: the element around the rows, whose number is `count`. */
export function useAdded<T extends HTMLElement>(count: number) {
  const list = useRef<T>(null)
  const isAdding = useRef(false)
  useEffect(() => {
    if (!isAdding.current) return
    isAdding.current = false
    const row = [...(list.current?.children ?? [])][count - 1]
    const field = row?.querySelector<HTMLElement>('input:not([type="checkbox"])') ?? row?.querySelector('select')
    field?.focus()
    // Its list opens with it.
    if (field?.role === 'combobox') field.click()
  }, [count])
  return {
    list,
    add: (change: () => void) => {
      isAdding.current = true
      change()
    },
  }
}
