import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

const room = 8
/** In pixels: with less below, a popup is above its field if there is more. */
const leastBelow = 220

interface Size {
  readonly leastWidth: number
  readonly mostHeight: number
  /** As wide as its field, if that is wider. */
  readonly isAsWide?: boolean
  /** A press in the popup leaves the focus in the field. */
  readonly keepsFocus?: boolean
}

/** Keeps a popup at its field, in the layer above everything. */
export function usePlace(
  isOpen: boolean,
  field: RefObject<HTMLElement | null>,
  list: RefObject<HTMLElement | null>,
  { leastWidth, mostHeight, isAsWide = true, keepsFocus = false }: Size,
): void {
  useLayoutEffect(() => {
    const popup = list.current
    if (!isOpen || !popup) return
    const place = () => {
      const at = field.current!.getBoundingClientRect()
      const width = Math.min(isAsWide ? Math.max(at.width, leastWidth) : leastWidth, innerWidth - 2 * room)
      const [below, above] = [innerHeight - at.bottom - room, at.top - room]
      const isAbove = below < Math.min(leastBelow, mostHeight) && above > below
      popup.style.width = `${width}px`
      popup.style.left = `${Math.max(room, Math.min(at.left, innerWidth - width - room))}px`
      popup.style.maxHeight = `${Math.min(mostHeight, Math.max(120, isAbove ? above : below) - 4)}px`
      popup.style.top = isAbove ? 'auto' : `${at.bottom + 4}px`
      popup.style.bottom = isAbove ? `${innerHeight - at.top + 4}px` : 'auto'
    }
    if (keepsFocus) popup.addEventListener('mousedown', (event) => event.preventDefault())
    popup.showPopover?.()
    place()
    addEventListener('scroll', place, true)
    addEventListener('resize', place)
    return () => {
      removeEventListener('scroll', place, true)
      removeEventListener('resize', place)
    }
  }, [isOpen])
}
