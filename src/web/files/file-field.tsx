import type { TargetedEvent } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { bytesText } from '../../lib/text/bytes-text.ts'
import { Icon } from '../ui/icon.tsx'
import './file-field.css'

/**
 * A place for one file: it can be dropped there, or chosen with a click or a key. Above all of it lies the browser's own field, which nobody sees: so the focus, the
 * keys, the form that it belongs to and its errors are the browser's.
 */
export function FileField({
  id,
  name,
  accept,
  about,
  required = false,
  disabled = false,
  isKept = true,
  onFile,
}: {
  id: string
  /** In the form that it belongs to. */
  name?: string
  accept?: string
  /** Which files are meant. */
  about?: string
  required?: boolean
  disabled?: boolean
  /** False: the file is taken at once, and the same one can be chosen again. */
  isKept?: boolean
  /** Null: none any more. */
  onFile?: (file: File | null) => void
}) {
  const zone = useRef<HTMLDivElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const described = useId()
  const [file, setFile] = useState<File | null>(null)
  const [isOver, setOver] = useState(false)
  const [left, setLeft] = useState(0)
  const take = (files: FileList | null) => {
    const taken = files?.[0] ?? null
    setFile(isKept ? taken : null)
    onFile?.(taken)
    if (!isKept && input.current) input.current.value = ''
  }
  const choose = (event: TargetedEvent<HTMLInputElement>) => {
    setLeft(0)
    const { files } = event.currentTarget
    // To look and choose nothing changes nothing where the file is taken at once.
    if (isKept || files?.length) take(files)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const dropped = event.dataTransfer?.files
    if (disabled || !dropped?.length) return
    const one = new DataTransfer()
    one.items.add(dropped[0]!)
    input.current!.files = one.files
    setLeft(dropped.length - 1)
    take(one.files)
    // For forms that watch what is changed in them.
    input.current!.dispatchEvent(new Event('input', { bubbles: true }))
  }
  // Of the whole zone, also while the field takes nothing: the browser would open the file instead of the page.
  useEffect(() => {
    const { current: place } = zone
    if (!place) return
    const over = (event: DragEvent) => event.preventDefault()
    const enter = () => setOver(!disabled)
    const leave = (event: DragEvent) => place.contains(event.relatedTarget as Node | null) || setOver(false)
    place.addEventListener('dragover', over)
    place.addEventListener('dragenter', enter)
    place.addEventListener('dragleave', leave)
    place.addEventListener('drop', drop)
    return () => {
      place.removeEventListener('dragover', over)
      place.removeEventListener('dragenter', enter)
      place.removeEventListener('dragleave', leave)
      place.removeEventListener('drop', drop)
    }
  })
  // Browsers open the choice with the space bar only, and Enter would send the form.
  const open = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    input.current!.click()
  }
  const remove = () => {
    input.current!.value = ''
    setLeft(0)
    take(null)
    input.current!.focus()
  }
  return (
    <div class={`file-field${isOver ? ' over' : ''}${disabled ? ' off' : ''}`} ref={zone}>
      <Icon name="up" />
      <div class="file-words" id={described}>
        {file === null ? (
          <span>Drop a file here, or choose one</span>
        ) : (
          <span class="file-name">
            {file.name} <span class="note">{bytesText(file.size)}</span>
          </span>
        )}
        {about !== undefined && <span class="note">{about}</span>}
        {left > 0 && (
          <span class="note" role="status">
            One file at a time: {left === 1 ? 'the other one was' : `${left} others were`} left out.
          </span>
        )}
      </div>
      <span class="file-button" aria-hidden="true">
        {file === null ? 'Choose a file' : 'Choose another'}
      </span>
      <input
        id={id}
        ref={input}
        type="file"
        aria-describedby={described}
        {...(name !== undefined && { name })}
        {...(accept !== undefined && { accept })}
        required={required}
        disabled={disabled}
        onKeyDown={open}
        onChange={choose}
      />
      {file !== null && (
        <button type="button" class="plain" aria-label={`Remove ${file.name}`} onClick={remove}>
          ✕
        </button>
      )}
    </div>
  )
}
