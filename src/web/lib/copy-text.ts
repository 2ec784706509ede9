/**
 * Puts a text into the clipboard. Pages without TLS, and browsers that refuse it, have no `navigator.clipboard`: there a selected field is copied.
 * `beside`: an element that can have the focus now, which outside of an open dialog nothing can. False: it failed.
 */
export async function copyText(text: string, beside: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text, beside)
  }
}

function copySelected(text: string, beside: Element): boolean {
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'hidden'
  field.readOnly = true
  ;(beside.closest('dialog') ?? document.body).append(field)
  field.select()
  const isDone = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return isDone
}
