import { useRef, useState } from 'preact/hooks'
import { useAction } from './forms.tsx'

/** Of one record, as the API takes them. */
const longest = 255

/** A field that comes with a click is what is typed into next. */
export const focusOnce = (element: HTMLElement | null): void => {
  if (element && !element.matches(':focus')) element.focus()
}

interface Props {
  readonly tags: readonly string[]
  /** Null: they cannot be changed. */
  readonly onChange: ((tags: readonly string[]) => Promise<unknown>) | null
}

/** The tags of a document: each can be removed, and others are typed at the end. */
export function Tags({ tags, onChange }: Props) {
  const [typed, setTyped] = useState<string | null>(null)
  const { act, isBusy, failure } = useAction()
  // A field that is taken away while it has the focus is left, too.
  const isOpen = useRef(false)
  const close = () => {
    isOpen.current = false
    setTyped(null)
  }
  const add = () => {
    if (!isOpen.current || isBusy) return
    const added = (typed ?? '').split(',').map((tag) => tag.trim())
    const fresh = [...new Set(added)].filter((tag) => tag !== '' && !tags.includes(tag))
    if (fresh.length === 0 || !onChange) return close()
    act(() => onChange([...tags, ...fresh]).then(close))
  }
  return (
    <>
      {tags.map((tag) => (
        <span class="chip" key={tag}>
          {tag}
          {onChange && (
            <button
              type="button"
              class="plain"
              aria-label={`Remove the tag ${tag}`}
              disabled={isBusy}
              onClick={() => act(() => onChange(tags.filter((one) => one !== tag)))}
            >
              ✕
            </button>
          )}
        </span>
      ))}
      {onChange &&
        (typed === null ? (
          <button
            type="button"
            class="plain link"
            onClick={() => {
              isOpen.current = true
              setTyped('')
            }}
          >
            Add a tag
          </button>
        ) : (
          <input
            aria-label="New tag"
            placeholder="New tag"
            value={typed}
            maxLength={longest}
            readOnly={isBusy}
            ref={focusOnce}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onBlur={add}
            onKeyDown={(event) => {
              if (event.key === 'Enter') add()
              if (event.key === 'Escape') close()
            }}
          />
        ))}
      {failure}
    </>
  )
}

/** The tags of a row of a list: a click shows all with that tag. */
export const TagLinks = ({ tags, onChoose }: { tags: readonly string[]; onChoose: (tag: string) => void }) => (
  <>
    {tags.map((tag) => (
      <button type="button" class="plain state" key={tag} title={`All with the tag ${tag}`} onClick={() => onChoose(tag)}>
        {tag}
      </button>
    ))}
  </>
)

/** The tag that a list is narrowed to. */
export const TagFilter = ({ tag, onRemove }: { tag: string; onRemove: () => void }) => (
  <span class="chip">
    {tag}
    <button type="button" class="plain" aria-label={`Without the tag ${tag}`} onClick={onRemove}>
      ✕
    </button>
  </span>
)

/** Marks a favorite, and unmarks it. */
export const Star = ({ of, isOn, onChange }: { of: string; isOn: boolean; onChange: (isOn: boolean) => void }) => (
  <button
    type="button"
    class="plain star"
    aria-pressed={isOn}
    aria-label={`Favorite: ${of}`}
    title={isOn ? 'No favorite' : 'Favorite'}
    onClick={() => onChange(!isOn)}
  >
    <svg
      width="18"
      height="18"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.3"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d="M8 1.6l1.9 4.1 4.5.5-3.4 3 1 4.4L8 11.3l-4 2.3 1-4.4-3.4-3 4.5-.5z" />
    </svg>
  </button>
)
