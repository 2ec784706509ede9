import type { Queue } from './loading.ts'

/** Calls back when the page goes to paper, or is shown as if it did. */
export function whenPrinted(wake: () => void): () => void {
  const paper = matchMedia('print')
  const changed = () => paper.matches && wake()
  paper.addEventListener('change', changed)
  addEventListener('beforeprint', wake)
  return () => {
    paper.removeEventListener('change', changed)
    removeEventListener('beforeprint', wake)
  }
}

/** A browser does not wait for what a page still computes: all tiles come first. */
export async function print(queue: Queue, board: HTMLElement): Promise<void> {
  queue.wakeAll()
  const isReady = () => board.querySelector('.tile-body[aria-busy="true"]') === null
  await new Promise((resolve) => setTimeout(resolve))
  if (!isReady())
    await new Promise<void>((resolve) => {
      const observer = new MutationObserver(() => {
        if (!isReady()) return
        observer.disconnect()
        resolve()
      })
      observer.observe(board, { subtree: true, attributes: true, attributeFilter: ['aria-busy'] })
    })
  window.print()
}
