"""Sphinx makes the documentation a site: the pages of the repository as they are, with a search of ours."""

import json
import os
import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.util import logging

project = 'simpkv'
extensions = ['myst_parser']
myst_enable_extensions = ['deflist']
myst_heading_anchors = 6
source_suffix = {suffix: 'markdown' for suffix in ('.md', '.1', '.5')}
include_patterns = ['*.md', 'docs/**.md', 'docs/*.[15]', 'gems/*/*.md', 'gems/*/docs/**.md', 'bench/results/*.md']
exclude_patterns = ['.*', 'ext', 'lib', 'pkg', 'spec', 'tmp']
root_doc = CONTENTS = 'docs/README'
suppress_warnings = ['myst.header']
smartquotes = False

html_theme = 'theme'
html_theme_path = ['.']
console = '../../gems/simpkv-server/lib/simpkv/server/console/assets'
html_static_path = ['site.css', 'search.js', f'{console}/console.css', f'{console}/icon.svg', os.environ['MINISEARCH']]
html_additional_pages = {'search': 'search.html'}
html_permalinks = html_copy_source = html_use_index = html_domain_indices = False
StandaloneHTMLBuilder.search = False  # its own, which finds literal words only

manuals = json.loads(Path(os.environ['MANUALS']).read_text())


def read(app, docname, source):
    """Puts the Markdown of a manual page in place of its roff."""
    path = app.env.doc2path(docname, base=False)
    if path in manuals:
        text = re.sub(r'^# (\S+) (\d).*', lambda title: f'# {title[1].lower()}({title[2]})', manuals[path], count=1)
        text = re.sub(r'\{::comment\}.*?\{:/comment\}', '', text, flags=re.S)
        source[0] = re.sub(r'\[([^]]*)\]\(man:[^)]*\)', r'\1', text)


def navigate(app, docname, template, context, doctree):
    """Makes a navigation of the contents. Sphinx would resolve a toctree for each page: half of the time of a build."""
    text = Path(app.env.doc2path(CONTENTS)).read_text()
    context['navigation'] = [(caption, list(linked(app, part)))
                             for caption, part in re.findall(r'^## (.*)\n((?:(?!#).*\n)*)', text, re.M)]


def linked(app, text):
    for target in re.findall(r'\]\(([^)#:]+)\)', text):
        page = app.env.path2doc(app.env.relfn2path(target, CONTENTS)[1])
        if page in app.env.titles:
            yield page, app.env.titles[page].astext()


def inside(app, target, docname):
    """Returns the path of a target of a link, or None if it is outside of the repository."""
    path = app.env.relfn2path(target, docname)[1]
    return None if os.path.relpath(path, app.srcdir).startswith('..') else path


def check(app, doctree):
    """Refuses links to files of this machine: Sphinx would copy these."""
    app.env.metadata[app.env.docname]['orphan'] = True  # not each page is in the navigation
    for node in list(doctree.findall(addnodes.download_reference)):
        if not inside(app, node['reftarget'], app.env.docname):
            logging.getLogger(__name__).warning('link out of the repository: %s', node['reftarget'], location=node)
            node.replace_self(node.children)
    for node in doctree.findall(nodes.literal_block):
        node['language'] = 'none'


def missing(app, env, node, text):
    """Shows the name of a folder, which has no page."""
    path = inside(app, node['reftarget'], node['refdoc'])
    return text if path and os.path.isdir(path) else None


def sections(app, docname):
    """Yields the parts of a page between headings, for the search."""
    doctree = app.env.get_doctree(docname)
    page = app.env.titles[docname].astext()
    for section in doctree.findall(nodes.section):
        text = ' '.join(node.astext() for node in section[1:] if not isinstance(node, nodes.section))
        yield {'page': page, 'heading': section[0].astext(), 'text': ' '.join(text.split()),
               'address': f'{app.builder.get_target_uri(docname)}#{section["ids"][0]}'}


def finish(app, error):
    if not error:
        found = [each for docname in sorted(app.env.found_docs) for each in sections(app, docname)]
        numbered = [dict(each, id=number) for number, each in enumerate(found)]
        Path(app.outdir, '_static/sections.js').write_text(f'const sections = {json.dumps(numbered)};\n')
        shutil.copy(Path(app.outdir, 'README.html'), Path(app.outdir, 'index.html'))


def setup(app):
    app.connect('source-read', read)
    app.connect('doctree-read', check, priority=1)  # before Sphinx collects the files
    app.connect('missing-reference', missing)
    app.connect('html-page-context', navigate)
    app.connect('build-finished', finish)
