// Conveniences. Every page works without them.
'use strict';

// <form data-auto>: sends itself when a choice changes.
for (const form of document.querySelectorAll('form[data-auto]')) {
  form.addEventListener('change', () => form.requestSubmit());
}

// <input data-filter="#id">: hides the rows or items of a list that do not have the entered text.
for (const input of document.querySelectorAll('input[data-filter]')) {
  const items = document.querySelector(input.dataset.filter).querySelectorAll('tbody > tr, li');
  input.addEventListener('input', () => {
    const text = input.value.toLowerCase();
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(text);
  });
}

// <time datetime>: its title says the time in the zone of the browser. A copy has the time in UTC, not how long ago it was.
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const tellTimes = place => {
  for (const time of place.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) time.title = exact.format(at);
  }
};
tellTimes(document);
document.addEventListener('copy', () => {
  const selection = getSelection();
  const times = [...document.querySelectorAll('time[datetime]')].filter(time => selection.containsNode(time));
  const shown = times.map(time => time.textContent);
  const put = texts => times.forEach((time, index) => { time.firstChild.data = texts[index]; });
  put(times.map(time => time.dateTime));
  setTimeout(() => put(shown));
});

// Buttons that copy names, paths and commands: after the heading of [data-copy], commands, and the names of rows.
const COMMAND = /^(simpkv|puppet|bolt|GET|curl) /;
const copied = [...document.querySelectorAll('[data-copy], main :not(pre) > code, main tbody th[scope=row] a')]
  .filter(place => !place.matches('code') || (COMMAND.test(place.textContent) && !place.closest('form')));
for (const place of navigator.clipboard ? copied : []) {
  const text = place.dataset.copy || place.textContent;
  const button = Object.assign(document.createElement('button'), { type: 'button', className: 'copy', textContent: 'Copy' });
  button.setAttribute('aria-label', `Copy ${text}`);
  button.addEventListener('click', async event => {
    event.preventDefault();
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  place.matches('h1') ? place.append(button) : place.after(button);
}

// The key / leads to the field in the head, unless a person is writing.
document.addEventListener('keydown', event => {
  const field = document.querySelector('#everything');
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || !field) return;
  if (event.target.closest('input, textarea, select, [contenteditable]')) return;
  event.preventDefault();
  field.select();
  field.focus();
});

// <main> of a page with <meta name="refresh" content="SECONDS">: loads the content again, as long as it is visible.
// That does not prolong a session. When the session has ended, the page leads to the sign-in page.
// What is no such page leaves the content as it is. An element [data-stale] outside of <main>, hidden at first, says so
// until the content comes again.
const refresh = document.querySelector('meta[name="refresh"]');
if (refresh) {
  const period = Number(refresh.content) * 1000;
  const load = async () => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), period / 2);
    try {
      const response = await fetch(refresh.dataset.address, { headers: { Accept: 'text/html' }, signal: limit.signal });
      if (response.redirected) location.assign(response.url);
      if (response.status !== 200) return null;
      return new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('main#main');
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
    }
  };
  let loading = false;
  setInterval(async () => {
    if (document.hidden || loading) return;
    loading = true;
    const content = await load();
    loading = false;
    if (content) {
      tellTimes(content);
      document.querySelector('main').replaceWith(content);
    }
    for (const warning of document.querySelectorAll('[data-stale]')) warning.hidden = content !== null;
  }, period);
}
