import { useRef } from 'preact/hooks'
import { agoText, numberText } from '../lib/format.ts'
import type { Choice, ChoiceGroup } from '../lib/matching.ts'
import { type PickerProps, usePicker } from './use-picker.ts'
import { usePlace } from './use-place.ts'
import './picker.css'

// One control for everything that is chosen from a long list: a text field that opens the list, searches it and takes its first find with Enter.

/** Of the list, in pixels. */
const size = { leastWidth: 300, mostHeight: 380, keepsFocus: true }

export function Picker<T>(props: PickerProps<T>) {
  const { label, text, name, placeholder = '', typed: free, isReading = false, isMany = false } = props
  const picker = usePicker(props)
  const { id, field, isOpen, typed, own, active, choose } = picker
  const list = useRef<HTMLDivElement>(null)
  usePlace(isOpen, field, list, size)
  const ofTyped = own !== null && (
    <Own id={`${id}-own`} text={own} isActive={active?.id === `${id}-own`} onTake={() => picker.takeTyped(own)} />
  )
  return (
    <span class={`picker${isOpen ? ' open' : ''}`}>
      <input
        ref={field}
        id={props.id}
        role="combobox"
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-list` : undefined}
        aria-autocomplete="list"
        aria-activedescendant={isOpen ? active?.id : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={isOpen && text !== '' ? text : placeholder}
        title={name !== undefined && name !== text ? name : undefined}
        value={typed ?? text}
        onClick={picker.open}
        onFocus={(event) => event.currentTarget.select()}
        onInput={(event) => picker.onInput(event.currentTarget.value)}
        onKeyDown={picker.onKey}
        onBlur={picker.leave}
      />
      {isOpen && (
        <div class="picker-popup" popover="manual" ref={list}>
          <div role="listbox" id={`${id}-list`} aria-label="Choices" aria-busy={isReading} aria-multiselectable={isMany}>
            {free?.place === 'first' && ofTyped}
            {picker.groups.map((group, g) => (
              <Group key={group.title} group={group} id={`${id}-${g}`} active={active?.id} chosen={name ?? text} onChoose={choose} />
            ))}
            {free?.place === 'last' && ofTyped}
          </div>
          {picker.isEmpty && <p class="picker-none">{isReading ? 'Searching' : 'No results'}</p>}
          {active?.choice && <About choice={active.choice} />}
        </div>
      )}
    </span>
  )
}

function Own({ id, text, isActive, onTake }: { id: string; text: string; isActive: boolean; onTake: () => void }) {
  return (
    <div role="option" id={id} aria-selected={isActive} class="picker-row" onClick={onTake}>
      <span class="picker-label">Use “{text}”</span>
    </div>
  )
}

function Group<T>({
  group: { title, choices, more },
  id,
  active,
  chosen,
  onChoose,
}: {
  group: ChoiceGroup<T>
  id: string
  active: string | undefined
  chosen: string
  onChoose: (choice: Choice<T>) => void
}) {
  return (
    <div role="group" aria-label={title || undefined}>
      {title !== '' && <div class="picker-title">{title}</div>}
      {choices.map((choice, i) => (
        <div
          role="option"
          key={`${choice.name} ${i}`}
          id={`${id}-${i}`}
          aria-selected={active === `${id}-${i}`}
          class={`picker-row${choice.name === chosen && chosen !== '' ? ' chosen' : ''}`}
          onClick={() => onChoose(choice)}
        >
          <span class="picker-label">{choice.label}</span>
          {choice.label !== choice.name && choice.name !== '' && <span class="picker-name">{choice.name}</span>}
          {choice.count !== undefined && <span class="picker-count">{numberText(choice.count)}</span>}
        </div>
      ))}
      {more > 0 && <div class="picker-more">and {numberText(more)} more: type to find them</div>}
    </div>
  )
}

/** What is known about the choice that Enter takes. */
function About({ choice: { name, label, about, kind, seen } }: { choice: Choice }) {
  const facts = [name === label ? undefined : name, kind, seen === undefined ? undefined : `last seen ${agoText(seen)}`].filter(Boolean)
  if (!about && facts.length === 0) return null
  return (
    <p class="picker-about">
      {about && <span>{about}</span>}
      {facts.length > 0 && <span class="note">{facts.join(' · ')}</span>}
    </p>
  )
}
