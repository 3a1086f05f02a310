"""What people eat, drink and take, and what ails them: word sets for claims that must not be told of anything else."""

from __future__ import annotations

from typing import Final

from lamina.language.wordsets import word_set

__all__ = ["CONDITIONS", "DRINKS", "FOODS", "MEATS", "MEDICINES", "SUFFERING", "diets_without"]

DRINKS: Final = word_set(
    "coffee tea espresso latte cappuccino decaf matcha water juice soda cola lemonade milk beer wine cider kombucha cocoa "
    "alcohol caffeine whisky whiskey vodka gin rum champagne"
)
MEATS: Final = word_set(
    "meat beef pork chicken lamb bacon ham turkey duck veal venison steak sausage sausages burger burgers"
)
_SEAFOOD: Final = word_set(
    "fish seafood shellfish salmon tuna prawn prawns shrimp shrimps crab lobster mussels oysters cod anchovies"
)
_ANIMAL: Final = word_set("dairy cheese egg eggs milk butter yoghurt yogurt cream honey")
FOODS: Final = (
    MEATS
    | _SEAFOOD
    | _ANIMAL
    | word_set(
        "gluten wheat lactose soy soya nut nuts peanut peanuts almond almonds cashew cashews hazelnut hazelnuts walnut walnuts "
        "pistachio pistachios sesame mustard celery lupin sugar chocolate bread pasta rice corn tomato tomatoes potato potatoes "
        "onion onions garlic mushroom mushrooms strawberry strawberries kiwi banana bananas apple apples citrus orange oranges "
        "grapefruit pineapple mango avocado beans lentils legumes spice spices salt sweets sweeteners aspartame gelatine gelatin msg"
    )
)
MEDICINES: Final = word_set(
    "penicillin amoxicillin ibuprofen aspirin paracetamol codeine morphine antibiotics nsaids sulfa latex iodine"
)
CONDITIONS: Final = {
    **dict.fromkeys(("asthma", "diabetes", "epilepsy", "eczema", "psoriasis", "arthritis", "hypertension", "anaemia")),
    **dict.fromkeys(("anemia", "ibs", "adhd", "autism", "dyslexia", "dementia", "haemophilia", "hemophilia", "parkinson's")),
    **dict.fromkeys(("alzheimer's", "tinnitus", "glaucoma", "osteoporosis", "endometriosis", "lupus", "cancer", "leukaemia")),
    "disease": frozenset(("coeliac", "celiac", "crohn's", "parkinson's", "alzheimer's", "heart", "kidney", "lyme")),
    "fever": frozenset(("hay",)),
    "pressure": frozenset(("high blood",)),
    "syndrome": frozenset(("down", "tourette", "asperger")),
}  # fmt: skip
"""Nouns of conditions that last; where a noun alone says too little, the words that must stand before it."""
SUFFERING: Final = {
    "diabetic": "diabetes", "asthmatic": "asthma", "epileptic": "epilepsy", "dyslexic": "dyslexia",
    "autistic": "autism", "anaemic": "anaemia", "anemic": "anaemia", "haemophiliac": "haemophilia",
}  # fmt: skip


def diets_without(food: str) -> tuple[str, ...]:
    """The diets that somebody who eats it does not keep."""
    if food in MEATS:
        return ("vegetarian", "vegan", "pescatarian")
    if food in _SEAFOOD:
        return ("vegetarian", "vegan")
    return ("vegan",) if food in _ANIMAL else ()
