// Shows the parts of the documentation that have all words of the question, or words that begin with them.
'use strict';

const EXCERPT = 200;
const question = new URLSearchParams(location.search).get('q') || '';
const index = new MiniSearch({
  fields: ['page', 'heading', 'text'],
  tokenize: text => text.split(/[^\p{L}\p{N}_]+/u).filter(word => word),
});

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

index.addAll(sections);
const found = index.search(question, { combineWith: 'AND', prefix: true, boost: { page: 4, heading: 3 } });
document.getElementById('search').value = question;
document.getElementById('count').textContent =
  question ? `${found.length} ${found.length === 1 ? 'part has' : 'parts have'} “${question}”` : '';
document.getElementById('results').append(...found.slice(0, 50).map(each => row(sections[each.id], each.terms)));
