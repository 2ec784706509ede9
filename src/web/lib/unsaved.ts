// Forms in which somebody has typed something that is not saved.

const changed = new Set<HTMLFormElement>()

export const markChanged = (form: HTMLFormElement): void => {
  changed.add(form)
}
export const markSaved = (form: HTMLFormElement): void => {
  changed.delete(form)
}
export const hasUnsaved = (within: Node = document): boolean => [...changed].some((form) => form.isConnected && within.contains(form))

window.addEventListener('beforeunload', (event) => {
  if (hasUnsaved()) event.preventDefault()
})
