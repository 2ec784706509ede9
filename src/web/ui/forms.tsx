import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks'
import { ApiError, post } from '../lib/api.ts'
import { useSession } from '../lib/session.ts'
import { Dialog, ErrorBox, Field, type Option } from './parts.tsx'
import './forms.css'

// Forms whose values the API checks: refusals are shown at their fields.

const Refusal = createContext<ApiError | null>(null)
const refusedAt = (error: ApiError | null, name: string) =>
  error?.attr === name || error?.attr?.startsWith(`${name}__`) ? error.message : null

export const textOf = (form: HTMLFormElement, name: string): string => String(new FormData(form).get(name) ?? '').trim()
export const isChecked = (form: HTMLFormElement, name: string): boolean => new FormData(form).has(name)
/** The items of a field with one item per line. */
export const linesOf = (form: HTMLFormElement, name: string): string[] =>
  textOf(form, name)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** The API wants these actions soon after a login only. */
const isOldLogin = (error: Error | null) =>
  error instanceof ApiError && error.status === 403 && /recently authenticated/.test(error.message)

/** An error; where it is a login that is too old, a way to sign in again. `onRenewed`: the action may be tried again. */
export function Refused({ error, onRenewed }: { error: Error; onRenewed?: () => void }) {
  return isOldLogin(error) ? <Renewal onRenewed={onRenewed} /> : <ErrorBox error={error} />
}

function Renewal({ onRenewed }: { onRenewed: (() => void) | undefined }) {
  const { user } = useSession()
  const [password, setPassword] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const [isDone, setDone] = useState(false)
  const renew = () =>
    post('api/login/', { email: user.email, password }).then(() => {
      setDone(true)
      onRenewed?.()
    }, setError)
  if (isDone) return onRenewed ? null : <p role="status">Thank you. Now try again.</p>
  return (
    <div class="hint" role="alert">
      <p>You signed in some time ago. This action needs your password again.</p>
      <div class="row">
        <input
          type="password"
          aria-label="Password"
          autocomplete="current-password"
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
        <button type="button" onClick={() => void renew()}>
          Confirm
        </button>
      </div>
      {error && <ErrorBox error={error} />}
    </div>
  )
}

export function Form({
  submit,
  send,
  children,
  isDanger = false,
  done = null,
  note,
}: {
  /** The text of the button. */
  submit: string
  send: (form: HTMLFormElement) => Promise<unknown>
  children?: ComponentChildren
  isDanger?: boolean
  /** What is said after it went well. */
  done?: string | null
  note?: ComponentChildren
}) {
  const [error, setError] = useState<Error | null>(null)
  const [isSending, setSending] = useState(false)
  const [isDone, setDone] = useState(false)
  const ref = useRef<HTMLFormElement>(null)
  const isAlive = useRef(true)
  useEffect(
    () => () => {
      isAlive.current = false
    },
    [],
  )
  const run = async () => {
    setSending(true)
    setError(null)
    setDone(false)
    try {
      await send(ref.current!)
      if (isAlive.current) setDone(true)
    } catch (failure) {
      if (isAlive.current) setError(failure as Error)
    }
    if (isAlive.current) setSending(false)
  }
  const refused = error instanceof ApiError ? error : null
  const first = refused?.attr?.split('__')[0]
  const isAtField = refused?.attr != null && [refused.attr, first!].some((name) => ref.current?.elements.namedItem(name))
  return (
    <Refusal.Provider value={refused}>
      <form
        ref={ref}
        class="entry-form"
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
        onInput={() => setDone(false)}
      >
        {children}
        {error && !isAtField && <Refused error={error} onRenewed={() => void run()} />}
        <div class="row">
          <button type="submit" class={isDanger ? 'danger' : 'primary'} disabled={isSending}>
            {submit}
          </button>
          {note}
          {isDone && done !== null && (
            <span role="status" class="note">
              {done}
            </span>
          )}
        </div>
      </form>
    </Refusal.Provider>
  )
}

interface FieldProps {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
}

export function TextField({
  name,
  label,
  hint,
  value = '',
  rows,
  suggestions,
  ...input
}: FieldProps & {
  value?: string | number | null | undefined
  /** More than one: a text area. */
  rows?: number
  suggestions?: readonly string[]
  type?: string
  required?: boolean
  maxLength?: number
  placeholder?: string
  autocomplete?: string
  autofocus?: boolean
  min?: number | string
  max?: number | string
  step?: number | string
}) {
  const refusal = refusedAt(useContext(Refusal), name)
  const list = useId()
  return (
    <Field label={label} error={refusal} {...(hint === undefined ? {} : { hint })}>
      {(id) =>
        rows ? (
          <textarea id={id} name={name} rows={rows} defaultValue={String(value ?? '')} spellcheck={false} {...input} />
        ) : (
          <>
            <input
              id={id}
              name={name}
              defaultValue={String(value ?? '')}
              autocomplete="off"
              aria-invalid={refusal !== null}
              {...({ ...input, ...(suggestions && { list }) } as object)}
            />
            {suggestions && (
              <datalist id={list}>
                {suggestions.map((one) => (
                  <option key={one} value={one} />
                ))}
              </datalist>
            )}
          </>
        )
      }
    </Field>
  )
}

export function ChoiceField({
  name,
  label,
  hint,
  value = '',
  options,
  onChange,
}: FieldProps & { value?: string | number | null | undefined; options: readonly Option[]; onChange?: (value: string) => void }) {
  const refusal = refusedAt(useContext(Refusal), name)
  return (
    <Field label={label} error={refusal} {...(hint === undefined ? {} : { hint })}>
      {(id) => (
        <select id={id} name={name} defaultValue={String(value ?? '')} onChange={(event) => onChange?.(event.currentTarget.value)}>
          {options.map((one) => (
            <option key={one.value} value={one.value} selected={one.value === String(value ?? '')}>
              {one.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export function CheckField({
  name,
  label,
  hint,
  value = false,
  onChange,
}: FieldProps & { value?: boolean; onChange?: (value: boolean) => void }) {
  const refusal = refusedAt(useContext(Refusal), name)
  return (
    <div class="field">
      <label class="check">
        <input type="checkbox" name={name} defaultChecked={value} onChange={(event) => onChange?.(event.currentTarget.checked)} />
        <span>{label}</span>
      </label>
      {hint !== undefined && <span class="note">{hint}</span>}
      {refusal && (
        <span class="field-error" role="alert">
          {refusal}
        </span>
      )}
    </div>
  )
}

/** A button that asks first. `typed`: what must be typed to go on. */
export function ConfirmButton({
  label,
  title,
  submit = label,
  typed,
  action,
  children,
  isPlain = false,
}: {
  label: string
  title: string
  submit?: string
  typed?: string
  action: () => Promise<unknown>
  children?: ComponentChildren
  isPlain?: boolean
}) {
  const [isOpen, setOpen] = useState(false)
  const send = async (form: HTMLFormElement) => {
    if (typed !== undefined && textOf(form, 'typed') !== typed.trim()) throw new Error(`Type ${typed} to go on.`)
    await action()
    setOpen(false)
  }
  return (
    <>
      <button type="button" class={isPlain ? 'plain danger-text' : 'danger-text'} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={() => setOpen(false)}>
          <Form submit={submit} send={send} isDanger>
            {children}
            {typed !== undefined && <TextField name="typed" label={`Type “${typed}” to confirm`} required autofocus />}
          </Form>
        </Dialog>
      )}
    </>
  )
}

/** A button that opens a dialog. */
export function DialogButton({
  label,
  title = label,
  isPrimary = false,
  children,
}: {
  label: string
  title?: string
  isPrimary?: boolean
  children: (close: () => void) => ComponentChildren
}) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <button type="button" class={isPrimary ? 'primary' : ''} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={close}>
          {children(close)}
        </Dialog>
      )}
    </>
  )
}

/** For buttons that act at once: the error of the last one, and a way to run one. */
export function useAction() {
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  const act = (action: () => Promise<unknown>): void => {
    setBusy(true)
    setError(null)
    void action().then(
      () => setBusy(false),
      (failure: Error) => {
        setBusy(false)
        setError(failure)
      },
    )
  }
  return { act, isBusy, failure: error && <Refused error={error} /> }
}
