import { sendsMail } from '../lib/mail.ts'
import { useLoaded } from '../lib/use-loaded.ts'

/** Says beforehand that mails cannot be sent, where a form offers one. */
export function NoMail({ instead }: { instead: string }) {
  const { value } = useLoaded(sendsMail, [])
  return value === false ? (
    <p class="hint">
      This server sends no mail: no mail server is configured. Its operator starts it with <code>waymark serve --smtp URL</code>. {instead}
    </p>
  ) : null
}
