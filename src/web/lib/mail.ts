import { get } from './api.ts'

/** Whether a mail server is configured. */
export const sendsMail = async (signal?: AbortSignal): Promise<boolean> =>
  (await get<{ email_service_available: boolean }>('_preflight', signal)).email_service_available
