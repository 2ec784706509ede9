import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks'
import type { PrecheckAnswer } from '../../doors/answers/login.ts'
import { ApiError, needsCode, post } from '../lib/api.ts'
import { FieldError } from '../lib/error-fields.ts'
import { instantOf, typedText } from '../lib/moments.ts'
import type { Option } from '../lib/option.ts'
import { refusalInWords } from '../lib/refusal-words.ts'
import { useProject, useUser } from '../lib/session.ts'
import { offerUndo } from '../lib/undo.ts'
import { markChanged, markSaved } from '../lib/unsaved.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { ProviderLinks } from '../pages/sign-in.tsx'
import { At, FieldErrors, useFieldError, useMarked } from './field-errors.tsx'
import { Icon, type IconName } from './icon.tsx'
import { Dialog, ErrorBox, Field } from './parts.tsx'
import { PasskeyButton } from './passkey-button.tsx'
import { ZoneInput } from './zone-input.tsx'
import './forms.css'

// Forms whose values the API checks: refusals are shown at their fields.

/** Closes the dialog that a form is in. */
const Close = createContext<(() => void) | null>(null)

export const textOf = (form: HTMLFormElement, name: string): string => String(new FormData(form).get(name) ?? '').trim()
export const isChecked = (form: HTMLFormElement, name: string): boolean => new FormData(form).has(name)
/** What is not a number is sent as it was typed: the API refuses it, with the reason. */
export const numberIn = (text: string): number | null =>
  text.trim() === '' ? null : Number.isNaN(Number(text)) ? (text as unknown as number) : Number(text)
/** The items of a field with one item per line, or with what stands between them. */
export const linesOf = (form: HTMLFormElement, name: string, between: string | RegExp = '\n'): string[] =>
  textOf(form, name)
    .split(between)
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** The API wants these actions soon after a login only. */
const isOldLogin = (error: Error | null) =>
  error instanceof ApiError && error.status === 403 && /recently authenticated/.test(error.message)

/** The error of what somebody just did; where it is a login that is too old, a way to sign in again. `onRenewed`: the action may be tried again. */
export function Refused({ error, onRenewed, retry }: { error: Error; onRenewed?: () => void; retry?: () => void }) {
  return isOldLogin(error) ? (
    <Renewal onRenewed={onRenewed} />
  ) : (
    <ErrorBox error={error} text={refusalInWords(error)} isReply retry={retry} />
  )
}

/** Who has no password here signs in again at the identity provider, and comes back to this page. */
function RenewalByProvider({ email }: { email: string }) {
  const { value: found } = useLoaded(() => post<PrecheckAnswer>('api/login/precheck/', { email }), [email])
  return (
    <div class="hint" role="alert">
      <p>You signed in some time ago. Sign in again, then come back to this page.</p>
      {found && <ProviderLinks ways={found.providers} more={{ email, next: location.hash.slice(1) }} />}
    </div>
  )
}

function Renewal({ onRenewed }: { onRenewed: (() => void) | undefined }) {
  const user = useUser()
  const [typed, setTyped] = useState('')
  const [hasPassword, setHasPassword] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const [isDone, setDone] = useState(false)
  const renew = () =>
    (hasPassword ? post('api/login/token/', { token: typed }) : post('api/login/', { email: user.email, password: typed })).then(
      () => {
        setDone(true)
        onRenewed?.()
      },
      (failure: Error) => {
        setTyped('')
        setHasPassword(needsCode(failure) || (hasPassword && !(failure instanceof ApiError && failure.code === '2fa_expired')))
        setError(needsCode(failure) ? null : failure)
      },
    )
  if (isDone) return onRenewed ? null : <p role="status">Thank you. Now try again.</p>
  if (!user.has_password || (error instanceof ApiError && error.code === 'sso_enforced')) return <RenewalByProvider email={user.email} />
  return (
    <div class="hint" role="alert">
      <p>
        {hasPassword
          ? 'And a code of your authenticator app, a recovery code, or a passkey.'
          : 'You signed in some time ago. This action needs your password again.'}
      </p>
      <div class="row">
        {hasPassword ? (
          <input
            key="code"
            aria-label="Code"
            autocomplete="one-time-code"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        ) : (
          <input
            key="password"
            type="password"
            aria-label="Password"
            autocomplete="current-password"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        <button type="button" onClick={() => void renew()}>
          Confirm
        </button>
      </div>
      {hasPassword && (
        <PasskeyButton
          label="Use a passkey"
          sign={async (passkeys) => {
            const passkey = await passkeys.sign('api/login/token/passkey/')
            await post('api/login/token/', { passkey })
            setDone(true)
            onRenewed?.()
          }}
        />
      )}
      {error && <Refused error={error} />}
    </div>
  )
}

export function Form({
  submit,
  send,
  children,
  isDanger = false,
  isReadOnly = false,
  done = null,
  note,
}: {
  /** The text of the button. */
  submit: string
  send: (form: HTMLFormElement) => Promise<unknown>
  children?: ComponentChildren
  isDanger?: boolean
  /** For viewers: the fields show what is set. */
  isReadOnly?: boolean
  /** What is said after it went well. */
  done?: string | null
  note?: ComponentChildren
}) {
  const [error, setError] = useState<Error | null>(null)
  const [isSending, setSending] = useState(false)
  const [isDone, setDone] = useState(false)
  const close = useContext(Close)
  const ref = useRef<HTMLFormElement>(null)
  const isAlive = useRef(true)
  useEffect(() => {
    const form = ref.current!
    return () => {
      isAlive.current = false
      markSaved(form)
    }
  }, [])
  const run = async () => {
    const form = ref.current!
    setSending(true)
    setError(null)
    setDone(false)
    markSaved(form)
    try {
      await send(form)
      markSaved(form)
      if (isAlive.current) setDone(true)
    } catch (failure) {
      if (isAlive.current) {
        setError(failure as Error)
        if (!isDanger) markChanged(form)
      }
    }
    if (isAlive.current) setSending(false)
  }
  if (isReadOnly)
    return (
      <form ref={ref} class="entry-form">
        <fieldset class="bare" disabled>
          {children}
        </fieldset>
        <p class="note">Only members can change this.</p>
      </form>
    )
  return (
    <FieldErrors error={error}>
      {(unplaced) => (
        <form
          ref={ref}
          class="entry-form"
          onSubmit={(event) => {
            event.preventDefault()
            if (!isSending) void run()
          }}
          onInput={() => {
            setDone(false)
            if (!isDanger) markChanged(ref.current!)
          }}
        >
          {children}
          {unplaced && <Refused error={unplaced} onRenewed={() => void run()} />}
          <div class="row">
            <button type="submit" class={isDanger ? 'danger' : 'primary'} disabled={isSending} aria-busy={isSending}>
              {submit}
            </button>
            {close && (
              <button type="button" onClick={close}>
                Cancel
              </button>
            )}
            {note}
            {isDone && done !== null && (
              <span role="status" class="note">
                {done}
              </span>
            )}
          </div>
        </form>
      )}
    </FieldErrors>
  )
}

interface FieldProps {
  readonly name: string
  /** What the API calls it, if that is not its name. */
  readonly of?: string | readonly string[]
  readonly label: string
  readonly hint?: string | undefined
}

export function TextField({
  name,
  of,
  label,
  hint,
  value = '',
  rows,
  onInput,
  isSelected = false,
  ...input
}: FieldProps & {
  value?: string | number | null | undefined
  /** More than one: a text area. */
  rows?: number
  onInput?: (value: string) => void
  type?: string
  required?: boolean
  maxLength?: number
  placeholder?: string
  autocomplete?: string
  autofocus?: boolean
  /** What it begins with is replaced by what is typed. */
  isSelected?: boolean
  disabled?: boolean
  min?: number | string
  max?: number | string
  step?: number | string
}) {
  const refusal = useFieldError(of ?? name)
  return (
    <Field label={label} error={refusal} {...(hint === undefined ? {} : { hint })}>
      {(id) =>
        rows ? (
          <textarea
            id={id}
            name={name}
            rows={rows}
            defaultValue={String(value ?? '')}
            spellcheck={false}
            onInput={(event) => onInput?.(event.currentTarget.value)}
            {...input}
          />
        ) : (
          <input
            id={id}
            name={name}
            defaultValue={String(value ?? '')}
            autocomplete="off"
            onInput={(event) => onInput?.(event.currentTarget.value)}
            {...(isSelected && { onFocus: (event: FocusEvent) => (event.currentTarget as HTMLInputElement).select() })}
            {...(input as object)}
          />
        )
      }
    </Field>
  )
}

export function ChoiceField({
  name,
  of,
  label,
  hint,
  value = '',
  options,
  onChange,
}: FieldProps & { value?: string | number | null | undefined; options: readonly Option[]; onChange?: (value: string) => void }) {
  const refusal = useFieldError(of ?? name)
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
  of,
  label,
  hint,
  value = false,
  onChange,
}: FieldProps & { value?: boolean; onChange?: (value: boolean) => void }) {
  const refusal = useFieldError(of ?? name)
  const id = useId()
  const described = useId()
  useMarked(() => document.getElementById(id), refusal, described)
  return (
    <div class="field">
      <label class="check">
        <input id={id} type="checkbox" name={name} defaultChecked={value} onChange={(event) => onChange?.(event.currentTarget.checked)} />
        <span>{label}</span>
      </label>
      {hint !== undefined && <span class="note">{hint}</span>}
      {refusal && (
        <span class="field-error" role="alert" id={described}>
          {refusal}
        </span>
      )}
    </div>
  )
}

/** One of a few, with all of them in sight. */
export function RadioField({
  name,
  of,
  label,
  value,
  options,
  onChange,
}: FieldProps & {
  value: string
  options: readonly (Option & { readonly about?: string })[]
  onChange?: (value: string) => void
}) {
  return (
    <fieldset>
      <legend>{label}</legend>
      <At of={of ?? name}>
        {options.map((one) => (
          <label class="check" key={one.value}>
            <input type="radio" name={name} value={one.value} defaultChecked={one.value === value} onChange={() => onChange?.(one.value)} />
            <span>
              {one.label} {one.about && <span class="note">{one.about}</span>}
            </span>
          </label>
        ))}
      </At>
    </fieldset>
  )
}

/** A time zone. */
export function ZoneField({ name, of, label, hint, value }: FieldProps & { value: string }) {
  const refusal = useFieldError(of ?? name)
  return (
    <Field label={label} error={refusal} {...(hint === undefined ? {} : { hint })}>
      {(id) => <ZoneInput id={id} name={name} label={label} value={value} />}
    </Field>
  )
}

/** A date and a time on the clock of the project. `value`: an instant. */
export function TimeField({ name, of, label, hint, value, required = false }: FieldProps & { value?: string | null; required?: boolean }) {
  const { timezone } = useProject()
  const refusal = useFieldError(of ?? name)
  return (
    <Field label={label} error={refusal} hint={`In the time zone of the project, ${timezone}. ${hint ?? ''}`}>
      {(id) => (
        <input
          id={id}
          name={name}
          type="datetime-local"
          max="9999-12-31T23:59"
          data-zone={timezone}
          defaultValue={value ? typedText(value, timezone) : ''}
          required={required}
        />
      )}
    </Field>
  )
}
/** The instant that a `TimeField` has; null where it is empty. */
export function timeOf(form: HTMLFormElement, name: string): string | null {
  const input = form.elements.namedItem(name) as HTMLInputElement
  return input.value === '' ? null : instantOf(input.value, input.dataset.zone!)
}

/** A form in a dialog. */
export function FormDialog({
  title,
  onClose,
  send,
  ...form
}: {
  title: string
  submit: string
  onClose: () => void
  /** The dialog closes when it has ended well. */
  send: (form: HTMLFormElement) => Promise<unknown>
  isDanger?: boolean
  children?: ComponentChildren
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Close.Provider value={onClose}>
        <Form send={(element) => send(element).then(onClose)} {...form} />
      </Close.Provider>
    </Dialog>
  )
}

/** Asks before something that cannot be undone. `typed`: what must be typed to go on. */
export function Confirm({
  typed,
  action,
  children,
  ...dialog
}: {
  title: string
  submit: string
  typed?: string | undefined
  action: (form: HTMLFormElement) => Promise<unknown>
  onClose: () => void
  children?: ComponentChildren
}) {
  const send = async (form: HTMLFormElement) => {
    if (typed !== undefined && textOf(form, 'typed') !== typed.trim()) throw new FieldError('typed', `Type ${typed} to go on.`)
    await action(form)
  }
  return (
    <FormDialog {...dialog} send={send} isDanger>
      {children}
      {typed !== undefined && <TextField name="typed" label={`Type “${typed}” to confirm`} required autofocus />}
    </FormDialog>
  )
}

interface OpenerProps {
  readonly label: string
  /** Of one among many: for screen readers, `Delete <of>`. */
  readonly of?: string
  /** As a link in a table, or as plain text. */
  readonly look?: 'cell' | 'plain'
  /** Instead of the label, where there is little room. */
  readonly icon?: IconName
}
const Opener = ({ label, of, look, icon, kind, onClick }: OpenerProps & { kind: string; onClick: () => void }) => (
  <button
    type="button"
    class={[(look || icon) && 'plain', look === 'cell' && 'cell', icon ? 'icon' : kind].filter(Boolean).join(' ')}
    {...(of !== undefined && { 'aria-label': `${label} ${of}` })}
    {...(icon && { title: label })}
    onClick={onClick}
  >
    {icon ? <Icon name={icon} /> : label}
  </button>
)

/** A button that asks first. */
export function ConfirmButton({
  label,
  of,
  look,
  icon,
  title,
  submit = label,
  isPlain = false,
  ...confirm
}: OpenerProps & {
  title: string
  submit?: string
  typed?: string
  action: (form: HTMLFormElement) => Promise<unknown>
  children?: ComponentChildren
  isPlain?: boolean
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Opener
        label={label}
        of={of}
        icon={icon}
        look={look ?? (isPlain ? 'plain' : undefined)}
        kind="danger-text"
        onClick={() => setOpen(true)}
      />
      {isOpen && <Confirm title={title} submit={submit} onClose={() => setOpen(false)} {...confirm} />}
    </>
  )
}

/** A button that removes at once, and offers to bring back what it removed. `text`: what was removed, as `Signups is deleted.` */
export function RemoveButton({
  text,
  remove,
  undo,
  ...opener
}: OpenerProps & { text: string; remove: () => Promise<unknown>; undo: () => Promise<unknown> }) {
  const { act, isBusy, failure } = useAction()
  const run = async () => {
    await remove()
    offerUndo({ text, undo })
  }
  return (
    <>
      <Opener {...opener} kind="danger-text" onClick={() => !isBusy && act(run)} />
      {failure}
    </>
  )
}

/** A button that opens a dialog. */
export function DialogButton({
  label,
  of,
  look,
  icon,
  title = label,
  isPrimary = false,
  children,
}: OpenerProps & {
  title?: string
  isPrimary?: boolean
  children: (close: () => void) => ComponentChildren
}) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <Opener
        label={label}
        of={of}
        look={look}
        icon={icon}
        kind={isPrimary ? 'primary' : look === 'plain' ? 'add' : ''}
        onClick={() => setOpen(true)}
      />
      {isOpen && (
        <Dialog title={title} onClose={close}>
          <Close.Provider value={close}>{children(close)}</Close.Provider>
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
