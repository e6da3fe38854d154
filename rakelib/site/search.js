// Shows the parts of the documentation that match the question.
'use strict';

const EXCERPT = 200;
// They are in every text, and no search is about them.
const COMMON = new Set('a an and are as at be by can do does for from how i in is it of on or that the this to use what when where which with you'.split(' '));
// What comes last: the pages that say how simpkv became what it is, and the manual page that repeats docs/configuration.
const LAST = /^(?:gems\/|docs\/(?:adr\/|maintainers\/|simpkv\.yaml)|(?:CHANGELOG|CONTRIBUTING)\.html)/;
const OPTIONS = {
  boost: { page: 2, heading: 4 },
  boostDocument: id => (LAST.test(sections[id].address) ? 0.02 : 1) * (sections[id].heading === sections[id].page ? 1.5 : 1),
  prefix: word => word.length > 2,
};
const FUZZY = { ...OPTIONS, fuzzy: word => (word.length > 3 ? 0.2 : false) };
// The searches, of which the first one that finds something counts, and what the parts have that it finds.
const SEARCHES = [
  ['all of', { ...OPTIONS, combineWith: 'AND' }],
  ['words like', { ...FUZZY, combineWith: 'AND' }],
  ['some of', { ...FUZZY, combineWith: 'OR' }],
];

// The words of a text, and what hyphens, colons and dots make of them: simpkv::get, simpkv and get.
function tokenize(text) {
  const names = text.match(/[\p{L}\p{N}_]+(?:(?:-|::|\.)[\p{L}\p{N}_]+)*(?:\+\+)?/gu) || [];
  return names.flatMap(name => [...new Set([name, ...name.split(/-|::|\./)])]);
}

const index = new MiniSearch({
  fields: ['page', 'heading', 'text'],
  tokenize,
  processTerm: word => (COMMON.has(word.toLowerCase()) ? null : word.toLowerCase()),
});
index.addAll(sections);

function find(question) {
  const tries = SEARCHES.map(([what, options]) => ({ what, parts: index.search(question, options) }));
  return tries.find(each => each.parts.length) || tries.pop();
}

// The text around the first of the words.
function excerpt(text, words) {
  const found = words.map(word => text.toLowerCase().indexOf(word)).filter(at => at >= 0);
  const start = Math.max(0, (found.length ? Math.min(...found) : 0) - EXCERPT / 4);
  return (start ? '… ' : '') + text.slice(start, start + EXCERPT) + (start + EXCERPT < text.length ? ' …' : '');
}

function row(section, words) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  const text = document.createElement('p');
  link.href = section.address;
  link.textContent = section.heading === section.page ? section.page : `${section.page}: ${section.heading}`;
  text.textContent = excerpt(section.text, words);
  item.append(link, text);
  return item;
}

function show(question) {
  const { what, parts } = find(question);
  document.getElementById('search').value = question;
  document.getElementById('count').textContent =
    question ? `${parts.length} ${parts.length === 1 ? 'part has' : 'parts have'} ${what} “${question}”` : '';
  document.getElementById('results').append(...parts.slice(0, 50).map(each => row(sections[each.id], each.terms)));
}

show(new URLSearchParams(location.search).get('q') || '');
